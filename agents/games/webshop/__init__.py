"""WebShop as its players know it."""
