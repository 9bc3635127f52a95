package dev.troupe.store.lbfgs;

/**
 * A line search for a step that fulfils the strong Wolfe conditions, by cubic interpolation (Nocedal and Wright 2006,
 * algorithms 3.5 and 3.6), with the safeguards of {@code torch.optim.LBFGS}.
 */
final class WolfeSearch {
    private static final double DECREASE = 1e-4;
    private static final int MOST_TRIALS = 25;
    /** Limits of an extrapolation, as in Nocedal's implementation. */
    private static final double LEAST_GROWTH = 0.01;
    private static final double MOST_GROWTH = 10;
    /** The part of a bracket at each end in which a step makes too little progress. */
    private static final double MARGIN = 0.1;

    /**
     * A point on the line.
     *
     * @param slope the product of gradient and direction
     * @param gradient the vector that has its gradient
     */
    record Point(double step, double value, double slope, int gradient) {
    }

    /** Evaluates the function at a step; the gradient is in a vector of its own until {@link #release}. */
    interface Line {
        Point at(double step);

        /** Gives a point's vector back. */
        void release(Point point);
    }

    private final Line line;
    private final Point start;
    private final double largestOfDirection;
    private final double curvature;
    private final double toleranceOfChange;
    private int trials;

    /** @param curvature the part of the first slope that the slope at the end may have at most */
    WolfeSearch(Line line, Point start, double largestOfDirection, double curvature, double toleranceOfChange) {
        this.line = line;
        this.start = start;
        this.largestOfDirection = largestOfDirection;
        this.curvature = curvature;
        this.toleranceOfChange = toleranceOfChange;
    }

    /** Returns the point with the best step that was found, beginning with a first one. */
    Point from(double first) {
        Point before = start;
        Point here = line.at(first);
        while (trials < MOST_TRIALS) {
            if (isTooHigh(here) || trials > 1 && here.value() >= before.value()) {
                return zoom(before, here);
            }
            if (isFlat(here)) {
                release(before);
                return here;
            }
            if (here.slope() >= 0) {
                return zoom(before, here);
            }
            double next = cubic(before, here, here.step() + LEAST_GROWTH * (here.step() - before.step()),
                    here.step() * MOST_GROWTH);
            release(before);
            before = here;
            here = line.at(next);
            trials++;
        }
        release(before);
        if (start.value() <= here.value()) {
            release(here);
            return start;
        }
        return here;
    }

    private boolean isTooHigh(Point point) {
        return point.value() > start.value() + DECREASE * point.step() * start.slope();
    }

    private boolean isFlat(Point point) {
        return Math.abs(point.slope()) <= -curvature * start.slope();
    }

    /** Narrows a bracket of two points, of which the lower one is the best so far. */
    private Point zoom(Point left, Point right) {
        Point low = left.value() <= right.value() ? left : right;
        Point high = low == left ? right : left;
        boolean lowIsFirst = low == left;
        boolean wasCloseToAnEnd = false;
        boolean isDone = false;
        while (!isDone && trials < MOST_TRIALS
                && Math.abs(high.step() - low.step()) * largestOfDirection >= toleranceOfChange) {
            double least = Math.min(low.step(), high.step());
            double most = Math.max(low.step(), high.step());
            double step = lowIsFirst ? cubic(low, high, least, most) : cubic(high, low, least, most);
            double margin = MARGIN * (most - least);
            boolean isCloseToAnEnd = Math.min(most - step, step - least) < margin;
            if (isCloseToAnEnd && (wasCloseToAnEnd || step >= most || step <= least)) {
                step = Math.abs(step - most) < Math.abs(step - least) ? most - margin : least + margin;
                isCloseToAnEnd = false;
            }
            wasCloseToAnEnd = isCloseToAnEnd;
            Point here = line.at(step);
            trials++;
            if (isTooHigh(here) || here.value() >= low.value()) {
                release(high);
                high = here;
                boolean staysLow = lowIsFirst ? low.value() <= high.value() : high.value() > low.value();
                if (!staysLow) {
                    Point other = low;
                    low = high;
                    high = other;
                    lowIsFirst = !lowIsFirst;
                }
            } else {
                isDone = isFlat(here);
                if (!isDone && here.slope() * (high.step() - low.step()) >= 0) {
                    release(high);
                    high = low;
                } else {
                    release(low);
                }
                low = here;
            }
        }
        release(high);
        return low;
    }

    private void release(Point point) {
        if (point != start) {
            line.release(point);
        }
    }

    /** Returns the minimum of the cubic through two points with their slopes, between two limits. */
    private static double cubic(Point one, Point two, double least, double most) {
        double d1 = one.slope() + two.slope() - 3 * (one.value() - two.value()) / (one.step() - two.step());
        double square = d1 * d1 - one.slope() * two.slope();
        if (!(square >= 0)) {
            return (least + most) / 2;
        }
        double d2 = Math.sqrt(square);
        double minimum = one.step() <= two.step()
                ? two.step()
                        - (two.step() - one.step()) * ((two.slope() + d2 - d1) / (two.slope() - one.slope() + 2 * d2))
                : one.step()
                        - (one.step() - two.step()) * ((one.slope() + d2 - d1) / (one.slope() - two.slope() + 2 * d2));
        return Math.min(Math.max(minimum, least), most);
    }
}
