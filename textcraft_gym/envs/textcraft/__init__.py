"""TextCraft: craft an item of Minecraft from base items, by the recipes of the prompt."""
