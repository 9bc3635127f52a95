package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.Partition;
import dev.troupe.stage.TensorPipelines.Setup;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The times at which gradients are added up over the ranks with the same weights, and the bits of the sums. */
@Tag("parity")
class GradientBucketsTest {
    private static final ModelSpec MODEL = new Gpt2(3, 32, 4, 16, 67, true, Gpt2.NORM_EPSILON).spec();
    private static final int TOKENS = 16;
    /** Elements of a bucket begin at a multiple of 64 for each of two ranks. */
    private static final int UNIT = 128;
    private static final long BLOCK = Math.ceilDiv(12L * 32 * 32, 64) * 64 + 64 * (1 + 1 + 2 + 1 + 1 + 1 + 2 + 1);
    private static final long POSITIONS = 16L * 32;
    private static final long TABLE = 67L * 32;

    /** A group of two with an absent other member; it notes the sums, and the facts known by then. */
    private static final class Witness implements TensorGroup {
        private final List<Long> elements = new ArrayList<>();
        private final List<Boolean> positionsWereKnown = new ArrayList<>();
        private Stage stage;
        private Engine engine;
        private IllegalStateException failure;

        private void note(Tensor tensor) {
            elements.add(tensor.shape().elementCount());
            positionsWereKnown.add(stage.gradients().stream().filter(named -> named.name().endsWith("wpe.weight"))
                    .anyMatch(named -> first(named.tensor()) != 0));
            if (failure != null) {
                throw failure;
            }
        }

        private double first(Tensor tensor) {
            double[] value = new double[1];
            engine.copyToHost(tensor, 0, MemorySegment.ofArray(value));
            return value[0];
        }

        @Override
        public int size() {
            return 2;
        }

        @Override
        public int rank() {
            return 0;
        }

        @Override
        public void allReduce(Tensor tensor) {
            note(tensor);
        }

        @Override
        public void allReduce(double[] values) {
        }

        @Override
        public void allReduceMax(Tensor tensor) {
        }

        @Override
        public void reduceScatter(Tensor whole, Tensor slice) {
            note(whole);
        }

        @Override
        public void allGather(Tensor slice, Tensor whole) {
        }

        @Override
        public void allToAll(Tensor source, int[][] rows, Tensor target) {
        }
    }

    private static Witness witness(Engine engine, Zero zero) {
        Witness witness = new Witness();
        StageSettings settings = new StageSettings(1, TOKENS, 4, new Optimizer.Sgd(0));
        witness.engine = engine;
        witness.stage = Stage.create(engine, Partition.uniform(MODEL, 1), 0, settings, TensorShare.ALL,
                new DataShare(witness, zero, Runnable::run), new InitialWeights(MODEL, 7));
        return witness;
    }

    private static void forward(Stage stage, int microbatch) {
        int[] ids = new int[TOKENS];
        for (int i = 0; i < TOKENS; i++) {
            ids[i] = (7 * i + microbatch) % 67;
        }
        stage.forward(microbatch, null, new MicrobatchRows(ids, ids));
    }

    @ParameterizedTest
    @EnumSource(value = Zero.class, names = {"NONE", "OPTIMIZER"})
    void shouldAddUpALayerBeforeTheBackwardOfTheLayersBeforeIt(Zero zero) {
        try (Engine engine = new ReferenceEngine(DataType.FLOAT64)) {
            Witness witness = witness(engine, zero);
            try (Stage stage = witness.stage) {
                forward(stage, 0);
                stage.lastBackwardFollows();
                stage.backward(0, null);
                // Head, three blocks, embedding; the tied table is not final yet.
                assertEquals(List.of(UNIT * 1L, BLOCK, BLOCK, BLOCK, POSITIONS), witness.elements);
                assertEquals(List.of(false, false, false, false, true), witness.positionsWereKnown);
                stage.tied().reduce();
                stage.addUpGradients();
                assertEquals(Math.ceilDiv(TABLE, UNIT) * UNIT, witness.elements.getLast());
                assertEquals(6, witness.elements.size());
            }
        }
    }

    @Test
    void shouldWaitForTheLastMicrobatchAndForBackwardsForTheWeightsThatComeLate() {
        try (Engine engine = new ReferenceEngine(DataType.FLOAT64)) {
            Witness witness = witness(engine, Zero.NONE);
            try (Stage stage = witness.stage) {
                forward(stage, 0);
                forward(stage, 1);
                stage.backward(1, null);
                stage.backwardInput(0, null);
                assertEquals(0, witness.elements.size());
                stage.lastBackwardFollows();
                stage.backwardWeight(0);
                assertEquals(5, witness.elements.size());
                stage.tied().reduce();
                stage.addUpGradients();
                // The next step's first backward is not its last.
                forward(stage, 0);
                stage.backward(0, null);
                assertEquals(6, witness.elements.size());
            }
        }
    }

    @Test
    void shouldAddUpEverythingAtTheEndIfTheLastBackwardIsUnknown() {
        try (Engine engine = new ReferenceEngine(DataType.FLOAT64)) {
            Witness witness = witness(engine, Zero.OPTIMIZER);
            try (Stage stage = witness.stage) {
                forward(stage, 0);
                stage.backward(0, null);
                assertEquals(List.of(), witness.elements);
                stage.addUpGradients();
                assertEquals(6, witness.elements.size());
            }
        }
    }

    @Test
    void shouldFailWithTheFailureOfTheOtherThread() {
        try (Engine engine = new ReferenceEngine(DataType.FLOAT64)) {
            Witness witness = witness(engine, Zero.NONE);
            try (Stage stage = witness.stage) {
                witness.failure = new IllegalStateException("member 1 (rank 5) did not come within 3 s");
                forward(stage, 0);
                stage.lastBackwardFollows();
                assertSame(witness.failure, assertThrows(IllegalStateException.class, () -> stage.backward(0, null)));
                assertEquals(1, witness.elements.size());
                assertSame(witness.failure, assertThrows(IllegalStateException.class, stage::addUpGradients));
            }
        }
    }

    @ParameterizedTest(name = "{0}, {1} ranks, {2} tensor-parallel ranks, sequence parallel {3}, tied {4}, {5} stages, {6}")
    @CsvSource({
            "NONE,      2, 1, false, true,  1, ALL_FORWARDS_FIRST,       NONE",
            "NONE,      4, 1, false, true,  2, WEIGHT_GRADIENTS_LATE,    SELECTIVE",
            "NONE,      2, 2, true,  true,  2, ONE_FORWARD_ONE_BACKWARD, FULL",
            "OPTIMIZER, 2, 2, true,  false, 3, WEIGHT_GRADIENTS_LATE,    SELECTIVE",
            "OPTIMIZER, 4, 1, false, true,  2, WHOLE_BACKWARDS,          NONE"})
    void shouldComeToTheSameBitsWhetherGradientsAreAddedUpOnTheWayOrAtTheEnd(Zero zero, int holders, int size,
            boolean sequence, boolean tied, int stageCount, Order order, Recompute recompute) {
        ModelSpec model = new Gpt2(3, 32, 4, 16, 67, tied, Gpt2.NORM_EPSILON).spec();
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7), 1, DataType.FLOAT64, recompute,
                    DropoutSettings.NONE);
            Partition partition = Partition.uniform(model, stageCount);
            try (TensorPipelines onTheWay = new TensorPipelines(setup, partition, size, sequence, holders, zero);
                    TensorPipelines atTheEnd = new TensorPipelines(setup, partition, size, sequence, holders, zero,
                            false)) {
                Training.assertSame(atTheEnd, onTheWay, order, 0);
            }
        }
    }
}
