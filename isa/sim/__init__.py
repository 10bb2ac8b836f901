"""The functional simulator: gfx11 code objects run on this processor."""
