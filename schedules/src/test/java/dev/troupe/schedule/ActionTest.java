package dev.troupe.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class ActionTest {
    @ParameterizedTest
    @CsvSource({"2F0, 2, FORWARD, 0", "1B3, 1, FULL_BACKWARD, 3", "0I2, 0, BACKWARD_INPUT, 2",
            "0W2, 0, BACKWARD_WEIGHT, 2", "1SEND_F0, 1, SEND_F, 0", "2RECV_F0, 2, RECV_F, 0",
            "12SEND_B34, 12, SEND_B, 34",
            "11RECV_B34, 11, RECV_B, 34"})
    void shouldReadAndWriteTheTextPyTorchUses(String text, int stage, Kind kind, int microbatch) {
        Action action = new Action(stage, kind, microbatch);
        assertEquals(action, Action.parse(text));
        assertEquals(text, action.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "F0", "2F", "-1F0", "2 F0", "2F0x", "12345678901F0", "2f0"})
    void shouldRefuseTextThatIsNoAction(String text) {
        PlanException refusal = assertThrows(PlanException.class, () -> Action.parse(text));
        assertEquals(
                "\"" + text + "\" is no action: write stage, kind and microbatch, as in 2F0, 1B3 or 1SEND_F0.",
                refusal.getMessage());
    }

    @ParameterizedTest
    @CsvSource({"2UNSHARD, 2, UNSHARD", "2RESHARD, 2, RESHARD", "0REDUCE_GRAD, 0, REDUCE_GRAD",
            "0SEND_SHARED, 0, SEND_SHARED", "3RECV_SHARED, 3, RECV_SHARED", "1NORM, 1, NORM", "3UPDATE, 3, UPDATE",
            "12SNAPSHOT, 12, SNAPSHOT"})
    void shouldReadAndWriteActionsOfAWholeStepWithoutAMicrobatch(String text, int stage, Kind kind) {
        Action action = new Action(stage, kind);
        assertEquals(action, Action.parse(text));
        assertEquals(text, action.toString());
        assertEquals(action, PackedAction.unpack(PackedAction.pack(stage, kind, Action.WHOLE_STEP, true)));
        assertEquals(action, Action.parse(stage + "F3").as(kind));
    }

    @Test
    void shouldReadAndWriteTheStepOfActionsOfAWholeStep() {
        Action update = new Action(3, Kind.UPDATE, 12);
        assertEquals(update, Action.parse("3UPDATE12"));
        assertEquals("3UPDATE12", update.toString());
        assertEquals(update, PackedAction.unpack(PackedAction.pack(3, Kind.UPDATE, 12, true)));
        assertEquals(Action.parse("3NORM12"), update.as(Kind.NORM));
    }

    @Test
    void shouldReadAndWriteTheVersionOfTheWeights() {
        Action forward = Action.parse("2F6@1");
        assertEquals(new Action(2, Kind.FORWARD, 6, 1), forward);
        assertEquals("2F6@1", forward.toString());
        assertEquals(Action.parse("2B6@1"), forward.as(Kind.FULL_BACKWARD));
        assertEquals(Action.parse("2SEND_F6"), forward.as(Kind.SEND_F));
        assertEquals(Action.parse("2F6"), forward.work());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "2SEND_F0@1 | SEND_F reads no weights of a version: write 2SEND_F0, without @1.",
            "2UPDATE@1 | UPDATE reads no weights of a version: write 2UPDATE, without @1."})
    void shouldRefuseAVersionOfAnActionThatReadsNoWeights(String text, String sentence) {
        assertEquals(sentence, assertThrows(PlanException.class, () -> Action.parse(text)).getMessage());
    }

    @Test
    void shouldListTheKindsWhenOneIsUnknown() {
        PlanException refusal = assertThrows(PlanException.class, () -> Action.parse("2X0"));
        assertEquals("\"X\" is no kind of action: use one of F, B, I, W, RECOMPUTE, SEND_F, RECV_F, SEND_B, RECV_B,"
                + " UNSHARD, RESHARD, REDUCE_GRAD, SEND_SHARED, RECV_SHARED, NORM, UPDATE, SNAPSHOT.",
                refusal.getMessage());
    }

    @Test
    void shouldRefuseNegativeIndexes() {
        PlanException refusal = assertThrows(PlanException.class, () -> new Action(-1, Kind.FORWARD, 0));
        assertEquals("An action needs a stage and a microbatch of 0 or more, but has stage -1 and microbatch 0.",
                refusal.getMessage());
    }
}
