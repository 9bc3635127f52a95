package dev.troupe.store.lbfgs;

import dev.troupe.store.lbfgs.VectorOperation.AbsoluteSum;
import dev.troupe.store.lbfgs.VectorOperation.Axpy;
import dev.troupe.store.lbfgs.VectorOperation.Copy;
import dev.troupe.store.lbfgs.VectorOperation.Scale;
import dev.troupe.store.lbfgs.WolfeSearch.Point;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * L-BFGS (Liu and Nocedal 1989) as {@code torch.optim.LBFGS} with {@code strong_wolfe} does it. The coordinator has scalars
 * only: all vectors are on shards, and their bits do not depend on the number of shards.
 *
 * <p>Thread rule: one thread.
 */
public final class LbfgsCoordinator {
    /** The vector of the parameters. */
    public static final int PARAMETERS = 0;
    private static final int DIRECTION = 1;
    private static final int START = 2;
    private static final int FIRST_FREE = 3;
    /** The usual part of the first slope that a line search may leave; a smaller one makes it more exact. */
    public static final double USUAL_CURVATURE = 0.9;
    /** The least product of a pair with which the curvature is positive. */
    private static final double LEAST_CURVATURE = 1e-10;

    /** Evaluates the function at {@link #PARAMETERS}: the workers of a batch. */
    public interface Objective {
        /**
         * Returns the value.
         *
         * @param gradient the vector to which the gradient is written
         */
        double evaluate(ShardedVectors vectors, int gradient);
    }

    /** A step of the parameters and the change of the gradient with it. */
    private record Pair(int step, int change, double product) {
    }

    private final ShardedVectors vectors;
    private final Objective objective;
    private final int history;
    private final double curvature;
    private final double toleranceOfChange;
    private final Deque<Pair> pairs = new ArrayDeque<>();
    private final Deque<Integer> free = new ArrayDeque<>();
    private final List<Double> evaluated = new ArrayList<>();
    private int vectorCount = FIRST_FREE;
    private double scale = 1;
    private boolean isFirst = true;
    private Point here;
    private double lastStep;

    /**
     * Creates the coordinator, and evaluates the function at the parameters of the shards.
     *
     * @param history the pairs that are kept
     * @param curvature the second Wolfe constant, above 0 and below 1
     * @param toleranceOfChange the change of a parameter below which a line search ends
     */
    public LbfgsCoordinator(ShardedVectors vectors, Objective objective, int history, double curvature,
            double toleranceOfChange) {
        this.vectors = vectors;
        this.objective = objective;
        this.history = history;
        this.curvature = curvature;
        this.toleranceOfChange = toleranceOfChange;
        here = evaluate(0);
    }

    /** Returns the value at the parameters. */
    public double value() {
        return here.value();
    }

    /** Returns every value in the order of the evaluations. */
    public List<Double> evaluated() {
        return List.copyOf(evaluated);
    }

    /** Returns the step length of the last iteration. */
    public double stepLength() {
        return lastStep;
    }

    /** Returns the vector of the last direction. */
    public int direction() {
        return DIRECTION;
    }

    /** Returns the vector of the gradient at the parameters. */
    public int gradient() {
        return here.gradient();
    }

    /** Does one iteration: a direction, a line search along it, and a pair for the history. */
    public void iterate() {
        computeDirection();
        double slope = vectors.dot(here.gradient(), DIRECTION);
        vectors.send(new Copy(PARAMETERS, START));
        Point start = new Point(0, here.value(), slope, here.gradient());
        double first = isFirst
                ? Math.min(1, 1 / vectors.sum(new AbsoluteSum(here.gradient())))
                : 1;
        isFirst = false;
        Point found = new WolfeSearch(new OnShards(), start, vectors.largest(DIRECTION), curvature,
                toleranceOfChange).from(first);
        moveTo(found.step());
        lastStep = found.step();
        if (found != start) {
            keepPair(found);
            free.add(here.gradient());
            here = found;
        }
    }

    /** The two loops over the history (Nocedal and Wright 2006, algorithm 7.4). */
    private void computeDirection() {
        vectors.send(new Copy(here.gradient(), DIRECTION));
        vectors.send(new Scale(DIRECTION, -1));
        List<Double> factors = new ArrayList<>();
        for (Pair pair : (Iterable<Pair>) pairs::descendingIterator) {
            double factor = vectors.dot(pair.step(), DIRECTION) / pair.product();
            factors.addFirst(factor);
            vectors.send(new Axpy(-factor, pair.change(), DIRECTION));
        }
        vectors.send(new Scale(DIRECTION, scale));
        int index = 0;
        for (Pair pair : pairs) {
            double factor = vectors.dot(pair.change(), DIRECTION) / pair.product();
            vectors.send(new Axpy(factors.get(index) - factor, pair.step(), DIRECTION));
            index++;
        }
    }

    private void keepPair(Point found) {
        int step = take();
        int change = take();
        vectors.send(new Copy(DIRECTION, step));
        vectors.send(new Scale(step, found.step()));
        vectors.send(new Copy(found.gradient(), change));
        vectors.send(new Axpy(-1, here.gradient(), change));
        double product = vectors.dot(change, step);
        if (product <= LEAST_CURVATURE) {
            free.add(step);
            free.add(change);
            return;
        }
        if (pairs.size() == history) {
            Pair oldest = pairs.removeFirst();
            free.add(oldest.step());
            free.add(oldest.change());
        }
        pairs.addLast(new Pair(step, change, product));
        scale = product / vectors.dot(change, change);
    }

    private void moveTo(double step) {
        vectors.send(new Copy(START, PARAMETERS));
        vectors.send(new Axpy(step, DIRECTION, PARAMETERS));
    }

    private Point evaluate(double step) {
        int gradient = take();
        double value = objective.evaluate(vectors, gradient);
        evaluated.add(value);
        return new Point(step, value, vectors.dot(gradient, DIRECTION), gradient);
    }

    private int take() {
        return free.isEmpty() ? vectorCount++ : free.remove();
    }

    private final class OnShards implements WolfeSearch.Line {
        @Override
        public Point at(double step) {
            moveTo(step);
            return evaluate(step);
        }

        @Override
        public void release(Point point) {
            free.add(point.gradient());
        }
    }
}
