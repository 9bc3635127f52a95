package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.partition.Partition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Calls that a stage must not take: out of order, with the wrong tensor, with tokens it does not know. */
class StageRefusalTest {
    private static final ModelSpec MODEL = new Gpt2(2, 4, 2, 3, 5, true, Gpt2.NORM_EPSILON).spec();
    private static final StageSettings SETTINGS = new StageSettings(2, 3, 4, new Optimizer.Sgd(0));
    private static final int[] IDS = {0, 1, 2, 3, 4, 0};

    private final Engine engine = new ReferenceEngine(DataType.FLOAT64);

    @AfterEach
    void closeEngine() {
        engine.close();
    }

    @Test
    void shouldRefuseBackwardsOutOfOrder() {
        Stage stage = stage(Partition.uniform(MODEL, 1), 0);
        assertOutOfOrder("backward for the input of microbatch 0 on stage 0 is out of order:"
                + " there are no activations of a forward", () -> stage.backwardInput(0, null));
        assertOutOfOrder("loss of microbatch 0 on stage 0 is out of order: no forward on a stage with the head came"
                + " before", () -> stage.loss(0));
        stage.forward(0, null, new MicrobatchRows(IDS, IDS));
        assertOutOfOrder("forward of microbatch 0 on stage 0 is out of order: activations of an earlier forward are"
                + " still kept", () -> stage.forward(0, null, new MicrobatchRows(IDS, IDS)));
        assertOutOfOrder("backward for the weights of microbatch 0 on stage 0 is out of order: the backward for the"
                + " input was not done yet", () -> stage.backwardWeight(0));
        stage.backwardInput(0, null);
        assertOutOfOrder("backward for the input of microbatch 0 on stage 0 is out of order: it was done before",
                () -> stage.backwardInput(0, null));
        stage.backwardWeight(0);
        assertOutOfOrder("backward for the weights of microbatch 0 on stage 0 is out of order: there are no activations"
                + " of a forward", () -> stage.backwardWeight(0));
    }

    @Test
    void shouldRefuseTokensThatAreNotOfTheModel() {
        Partition whole = Partition.uniform(MODEL, 1);
        assertRefused("token ids of this model are 0 to 4, but found 5 among the tokens of stage 0: take the tokenizer"
                + " the model was made for, or raise model.vocabulary-size",
                () -> stage(whole, 0).forward(0, null, new MicrobatchRows(new int[]{0, 0, 0, 0, 0, 5}, IDS)));
        assertRefused(
                "token ids of this model are 0 to 4, but found -1 among the targets of stage 0: take the tokenizer"
                        + " the model was made for, or raise model.vocabulary-size",
                () -> stage(whole, 0).forward(0, null, new MicrobatchRows(IDS, new int[]{-1, 0, 0, 0, 0, 0})));
        assertRefused("stage 0 expects 6 tokens a microbatch (2 sequences of 3), but found 3",
                () -> stage(whole, 0).forward(0, null, new MicrobatchRows(new int[3], IDS)));
        assertRefused("stage 0 expects 6 targets a microbatch (2 sequences of 3), but found none",
                () -> stage(whole, 0).forward(0, null, new MicrobatchRows(IDS, null)));
    }

    @Test
    void shouldRefuseTensorsThatDoNotBelongAtItsBorders() {
        Partition two = Partition.uniform(MODEL, 2);
        Stage first = stage(two, 0);
        Stage last = stage(two, 1);
        assertRefused("stage 1 expects an input of shape [6 x 4] from its neighbour for microbatch 2, but found none",
                () -> last.forward(2, null, new MicrobatchRows(null, IDS)));
        assertRefused(
                "stage 0 expects nothing from its neighbour for microbatch 2, but found an input of shape [6 x 4]",
                () -> first.forward(2, first.boundary().take(), new MicrobatchRows(IDS, null)));
        Tensor small = engine.allocate(DataType.FLOAT64, Shape.of(3, 4));
        assertRefused(
                "stage 1 expects an input of shape [6 x 4] from its neighbour for microbatch 1, but found an input of"
                        + " shape [3 x 4]",
                () -> last.forward(1, small, new MicrobatchRows(null, IDS)));
        first.forward(0, null, new MicrobatchRows(IDS, null));
        assertRefused("stage 0 expects a gradient of shape [6 x 4] from its neighbour for microbatch 0, but found none",
                () -> first.backwardInput(0, null));
    }

    @Test
    void shouldRefuseATensorReleasedTwiceOrToAnotherStage() {
        Partition two = Partition.uniform(MODEL, 2);
        Stage first = stage(two, 0);
        Stage last = stage(two, 1);
        Tensor buffer = first.boundary().take();
        assertThrows(IllegalArgumentException.class, () -> last.boundary().release(buffer));
        first.boundary().release(buffer);
        assertThrows(IllegalArgumentException.class, () -> first.boundary().release(buffer));
        assertSame(buffer, first.boundary().take());
        assertNotSame(buffer, first.boundary().take());
    }

    @Test
    void shouldRefuseTheWrongExchangeOfATiedTable() {
        Partition three = Partition.uniform(MODEL, 3);
        assertEquals(TiedEnd.EMBEDDING, stage(three, 0).tiedEnd());
        assertEquals(TiedEnd.NONE, stage(three, 1).tiedEnd());
        assertEquals(TiedEnd.HEAD, stage(three, 2).tiedEnd());
        assertEquals(TiedEnd.BOTH, stage(Partition.uniform(MODEL, 1), 0).tiedEnd());
        assertThrows(IllegalStateException.class, () -> stage(three, 0).tied().reduce());
        assertThrows(IllegalStateException.class, () -> stage(three, 1).tied().gradient());
        assertThrows(IllegalStateException.class, () -> stage(Partition.uniform(MODEL, 1), 0).tied().gradient());
    }

    @Test
    void shouldRefuseALongerSequenceThanTheModelHasPositionsFor() {
        StageSettings longer = new StageSettings(1, 4, 1, new Optimizer.Sgd(0));
        assertRefused("the model has positions for sequences of up to 3 tokens, but the run asks for 4: shorten the"
                + " sequence",
                () -> Stage.create(engine, Partition.uniform(MODEL, 1), 0, longer,
                        new InitialWeights(MODEL, 1)));
    }

    @Test
    void shouldTrainShorterSequencesThanTheModelHasPositionsFor() {
        StageSettings shorter = new StageSettings(3, 2, 1, new Optimizer.Sgd(0));
        Stage stage = Stage.create(engine, Partition.uniform(MODEL, 1), 0, shorter, new InitialWeights(MODEL, 1));
        stage.forward(0, null, new MicrobatchRows(IDS, IDS));
        stage.backwardInput(0, null);
        stage.backwardWeight(0);
        assertEquals(Math.log(5), stage.loss(0), 0.1);
        stage.close();
        assertEquals(0, engine.allocatedBytes());
    }

    private Stage stage(Partition partition, int index) {
        return Stage.create(engine, partition, index, SETTINGS, new InitialWeights(MODEL, 1));
    }

    private static void assertOutOfOrder(String message, Executable call) {
        assertEquals(message, assertThrows(IllegalStateException.class, call).getMessage());
    }

    private static void assertRefused(String message, Executable call) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, call).getMessage());
    }
}
