package dev.troupe.store.lbfgs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.store.lbfgs.LbfgsCoordinator.Objective;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** L-BFGS on shards against PyTorch, a dense BFGS product, and itself on other shards. */
@Tag("plan")
class LbfgsTest {
    private static final int PORTION = 4;
    private static final double TOLERANCE_OF_CHANGE = 1e-12;

    private static ShardedVectors at(double[] first, int shards) {
        ShardedVectors vectors = ShardedVectors.of(first.length, PORTION, shards);
        vectors.write(LbfgsCoordinator.PARAMETERS, first);
        return vectors;
    }

    /** The chained Rosenbrock function. */
    private static final Objective ROSENBROCK = (vectors, gradient) -> {
        double[] x = vectors.read(LbfgsCoordinator.PARAMETERS);
        double[] g = new double[x.length];
        double value = 0;
        for (int i = 0; i + 1 < x.length; i++) {
            double curve = x[i + 1] - x[i] * x[i];
            value += 100 * curve * curve + (1 - x[i]) * (1 - x[i]);
            g[i] += -400 * x[i] * curve - 2 * (1 - x[i]);
            g[i + 1] += 200 * curve;
        }
        vectors.write(gradient, g);
        return value;
    };

    /** The first points and values of torch.optim.LBFGS(history_size=5, line_search_fn="strong_wolfe") in float64. */
    private static final double[][] POINTS = {
            {-1.0768844221105527, 0.5477386934673367, -0.8256281407035176, 1.050251256281407},
            {-0.8507028006606783, 0.4195422712348308, -0.715456406121759, 0.9930863903618948},
            {-0.6272626893783456, 0.180545736550476, -0.6029643217619249, 0.7412096459938036},
            {-0.3403927194460616, 0.0645499124786082, -0.25128983263508614, 0.24100014227925726},
            {-0.2525281863918084, 0.04815927608365384, 0.007788805058980745, -0.012272007093851808},
            {-0.24278625537970255, 0.06326072086639403, 0.015521022786319916, -0.000190759086676498}};
    private static final double[] STEP_LENGTHS = {0.0005710370031978071, 1.0, 1.0, 1.0, 0.47039487313639083, 1.0, 1.0,
            1.0,
            5.505, 0.014340552580774078, 1.0, 1.0, 1.0, 1.0, 0.5583881966958439, 0.482225167831033, 1.0, 1.0, 1.0, 1.0,
            0.4853603516870615, 0.45302474687868943, 1.0, 1.0};
    private static final int[] EVALUATIONS = {1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 16, 17, 18, 19, 20, 22, 24, 25, 26, 27,
            28, 30,
            32, 33, 34};
    private static final double[] LAST = {0.8787575113277272, 0.7887480537508532, 0.6309235252478252,
            0.38888575669391734};

    @Test
    void shouldTakePyTorchsPathOnRosenbrocksFunction() {
        ShardedVectors vectors = at(new double[]{-1.2, 1.0, -1.2, 1.0}, 1);
        LbfgsCoordinator search = new LbfgsCoordinator(vectors, ROSENBROCK, 5, LbfgsCoordinator.USUAL_CURVATURE,
                TOLERANCE_OF_CHANGE);
        for (int iteration = 0; iteration < STEP_LENGTHS.length; iteration++) {
            search.iterate();
            assertEquals(STEP_LENGTHS[iteration], search.stepLength(), 1e-8 * STEP_LENGTHS[iteration],
                    "step " + iteration);
            assertEquals(EVALUATIONS[iteration + 1], search.evaluated().size(), "evaluations after " + iteration);
            if (iteration < POINTS.length) {
                assertArrayEquals(POINTS[iteration], vectors.read(LbfgsCoordinator.PARAMETERS), 1e-8);
            }
        }
        assertArrayEquals(LAST, vectors.read(LbfgsCoordinator.PARAMETERS), 1e-8);
    }

    /** PyTorch's points with max_iter=1 and tolerance_change=2, by which each search ends where it began, without a pair. */
    @Test
    void shouldShortenTheVeryFirstStepAlone() {
        ShardedVectors vectors = at(new double[]{0.25}, 1);
        List<Double> points = new ArrayList<>();
        LbfgsCoordinator search = new LbfgsCoordinator(vectors, (all, gradient) -> {
            double x = all.read(LbfgsCoordinator.PARAMETERS)[0];
            points.add(x);
            all.write(gradient, new double[]{20 * x});
            return 10 * x * x;
        }, 5, LbfgsCoordinator.USUAL_CURVATURE, 2);
        search.iterate();
        assertEquals(0, search.stepLength());
        search.iterate();
        assertEquals(List.of(0.25, -0.75, -4.75), points.subList(0, 3));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 5})
    void shouldHaveTheSameBitsOnAnyNumberOfShards(int shards) {
        double[] first = new Random(1).doubles(41, -1, 1).toArray();
        ShardedVectors alone = at(first, 1);
        ShardedVectors divided = at(first, shards);
        LbfgsCoordinator one = new LbfgsCoordinator(alone, ROSENBROCK, 5, LbfgsCoordinator.USUAL_CURVATURE,
                TOLERANCE_OF_CHANGE);
        LbfgsCoordinator other = new LbfgsCoordinator(divided, ROSENBROCK, 5, LbfgsCoordinator.USUAL_CURVATURE,
                TOLERANCE_OF_CHANGE);
        for (int iteration = 0; iteration < 30; iteration++) {
            one.iterate();
            other.iterate();
            assertArrayEquals(alone.read(LbfgsCoordinator.PARAMETERS), divided.read(LbfgsCoordinator.PARAMETERS));
        }
        assertEquals(one.evaluated(), other.evaluated());
        assertTrue(one.value() < one.evaluated().getFirst());
    }

    /** With exact line searches and the whole history, as conjugate gradients do. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 20})
    void shouldSolveAQuadraticInOneIterationMoreThanItsDimensions(int n) {
        Random random = new Random(n);
        double[][] root = IntStream.range(0, n).mapToObj(_ -> random.doubles(n, -1, 1).toArray())
                .toArray(double[][]::new);
        double[][] matrix = new double[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                matrix[i][j] = dot(root[i], root[j]) + (i == j ? 1 : 0);
            }
        }
        ShardedVectors vectors = at(random.doubles(n, -1, 1).toArray(), 2);
        LbfgsCoordinator search = new LbfgsCoordinator(vectors, (all, gradient) -> {
            double[] x = all.read(LbfgsCoordinator.PARAMETERS);
            double[] g = times(matrix, x);
            all.write(gradient, g);
            return dot(x, g) / 2;
        }, n + 1, 1e-9, 0);
        double first = Math.sqrt(vectors.dot(search.gradient(), search.gradient()));
        int iterations = 0;
        while (Math.sqrt(vectors.dot(search.gradient(), search.gradient())) > 1e-7 * first) {
            search.iterate();
            iterations++;
            assertTrue(iterations <= n + 1, "not solved after " + iterations + " iterations");
        }
    }

    /** The direction is -H g with H by the dense BFGS formula from the same pairs. */
    @Test
    void shouldHaveTheDirectionOfDenseBfgs() {
        int n = 50;
        int history = 6;
        ShardedVectors vectors = at(new Random(2).doubles(n, -1, 1).toArray(), 3);
        LbfgsCoordinator search = new LbfgsCoordinator(vectors, ROSENBROCK, history, LbfgsCoordinator.USUAL_CURVATURE,
                TOLERANCE_OF_CHANGE);
        double[] g = vectors.read(search.gradient());
        double[][] steps = new double[0][];
        double[][] changes = new double[0][];
        for (int iteration = 0; iteration < 12; iteration++) {
            search.iterate();
            double[] direction = vectors.read(search.direction());
            double[] expected = times(dense(steps, changes, n), g);
            double largest = Arrays.stream(expected).map(Math::abs).max().orElseThrow();
            for (int i = 0; i < n; i++) {
                assertEquals(-expected[i], direction[i], 1e-9 * largest, "iteration " + iteration);
            }
            double[] nextG = vectors.read(search.gradient());
            double length = search.stepLength();
            steps = appended(steps, Arrays.stream(direction).map(d -> d * length).toArray(), history);
            changes = appended(changes, difference(nextG, g), history);
            g = nextG;
        }
    }

    private static double[][] appended(double[][] all, double[] one, int most) {
        double[][] longer = Arrays.copyOf(all, all.length + 1);
        longer[all.length] = one;
        return longer.length > most ? Arrays.copyOfRange(longer, 1, longer.length) : longer;
    }

    private static double[] difference(double[] a, double[] b) {
        return IntStream.range(0, a.length).mapToDouble(i -> a[i] - b[i]).toArray();
    }

    private static double dot(double[] a, double[] b) {
        return IntStream.range(0, a.length).mapToDouble(i -> a[i] * b[i]).sum();
    }

    private static double[] times(double[][] matrix, double[] vector) {
        return Arrays.stream(matrix).mapToDouble(row -> dot(row, vector)).toArray();
    }

    /** H = V' H V + s s' / (y's) with V = I - y s' / (y's), from the multiple of I that the last pair gives. */
    private static double[][] dense(double[][] steps, double[][] changes, int n) {
        double[][] h = new double[n][n];
        double scale = steps.length == 0
                ? 1
                : dot(changes[steps.length - 1], steps[steps.length - 1])
                        / dot(changes[steps.length - 1], changes[steps.length - 1]);
        for (int i = 0; i < n; i++) {
            h[i][i] = scale;
        }
        for (int pair = 0; pair < steps.length; pair++) {
            double[] s = steps[pair];
            double[] y = changes[pair];
            double rho = 1 / dot(y, s);
            double[] hy = times(h, y);
            double yhy = dot(y, hy);
            double[][] next = new double[n][n];
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    next[i][j] = h[i][j] - rho * (s[i] * hy[j] + hy[i] * s[j]) + rho * (rho * yhy + 1) * s[i] * s[j];
                }
            }
            h = next;
        }
        return h;
    }
}
