"""All runs below a folder as a local web site that grows with them, or as a static one."""
