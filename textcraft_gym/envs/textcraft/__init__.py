"""TextCraft: craft an item of Minecraft from base items, by recipes that are listed in the prompt."""
