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
    void shouldRefuseWhatIsNoAction(String text) {
        PlanException refusal = assertThrows(PlanException.class, () -> Action.parse(text));
        assertEquals(
                "\"" + text + "\" is no action: write stage, kind and microbatch, as in 2F0, 1B3 or 1SEND_F0.",
                refusal.getMessage());
    }

    @Test
    void shouldListTheKindsWhenOneIsUnknown() {
        PlanException refusal = assertThrows(PlanException.class, () -> Action.parse("2X0"));
        assertEquals("\"X\" is no kind of action: use one of F, B, I, W, SEND_F, RECV_F, SEND_B, RECV_B.",
                refusal.getMessage());
    }

    @Test
    void shouldRefuseNegativeIndexes() {
        PlanException refusal = assertThrows(PlanException.class, () -> new Action(-1, Kind.FORWARD, 0));
        assertEquals("An action needs a stage and a microbatch of 0 or more, but has stage -1 and microbatch 0.",
                refusal.getMessage());
    }

    @ParameterizedTest
    @CsvSource({"1SEND_F0, 2RECV_F0", "2RECV_F0, 1SEND_F0", "2SEND_B5, 1RECV_B5", "1RECV_B5, 2SEND_B5"})
    void shouldKnowTheOtherEndOfAMessage(String one, String other) {
        assertEquals(Action.parse(other), Action.parse(one).peer());
    }

    @Test
    void shouldKnowNoOtherEndOfComputing() {
        assertThrows(IllegalStateException.class, () -> Action.parse("1F0").peer());
    }
}
