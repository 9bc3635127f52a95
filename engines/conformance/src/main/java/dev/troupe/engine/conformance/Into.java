package dev.troupe.engine.conformance;

/** Where the gradient for x of a norm goes. */
enum Into {
    /** To a tensor of its own. */
    DX(""),
    /** To that of dy. */
    DY(" into dy"),
    /** To a tensor that it is added to. */
    DX_ADDED(" accumulate");

    final String words;

    Into(String words) {
        this.words = words;
    }

    /** Appends dy, and dx where that is another operand; these and x are products. */
    KernelCase.Builder operands(KernelCase.Builder builder, Tolerance tolerance, int... sizes) {
        return switch (this) {
            case DX -> builder.input("dy", sizes).output("dx", tolerance, sizes).products("x", "dy", "dx");
            case DY -> builder.changed("dy", tolerance, sizes).products("x", "dy");
            case DX_ADDED -> builder.input("dy", sizes).changed("dx", tolerance, sizes).products("x", "dy", "dx");
        };
    }

    /** The place of dx among the operands, where dy has this one. */
    int dx(int dy) {
        return this == DY ? dy : dy + 1;
    }
}
