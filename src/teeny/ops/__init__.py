"""The dialect's operations, one file a family: dtype rule, shape rule, text, numpy meaning, CPU rule."""
