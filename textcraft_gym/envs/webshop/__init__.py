"""WebShop-lite: shopping by search and click, after WebShop."""
