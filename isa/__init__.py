"""All that is known of the gfx11 machine, and of programs written for it."""
