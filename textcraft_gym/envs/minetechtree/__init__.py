"""The tech tree of Minecraft as a text world: mine, hunt, craft, smelt and equip."""
