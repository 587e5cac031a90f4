"""TextCraft: craft an item of Minecraft from what can be got, by recipes that are listed in the prompt."""
