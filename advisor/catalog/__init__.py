"""Models, hardware, engines and number formats as data, and the names people give them."""
