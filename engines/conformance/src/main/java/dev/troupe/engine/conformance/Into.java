package dev.troupe.engine.conformance;

/** The destination of a norm's gradient for x. */
enum Into {
    /** A separate tensor. */
    DX(""),
    /** The tensor of dy. */
    DY(" into dy"),
    /** A tensor to which it is added. */
    DX_ADDED(" accumulate");

    final String words;

    Into(String words) {
        this.words = words;
    }

    /** Appends dy, and dx if that is another operand; these and x are products. */
    KernelCase.Builder operands(KernelCase.Builder builder, Tolerance tolerance, int... sizes) {
        return switch (this) {
            case DX -> builder.input("dy", sizes).output("dx", tolerance, sizes).products("x", "dy", "dx");
            case DY -> builder.changed("dy", tolerance, sizes).products("x", "dy");
            case DX_ADDED -> builder.input("dy", sizes).changed("dx", tolerance, sizes).products("x", "dy", "dx");
        };
    }

    /** The place of dx among the operands, for this place of dy. */
    int dx(int dy) {
        return this == DY ? dy : dy + 1;
    }
}
