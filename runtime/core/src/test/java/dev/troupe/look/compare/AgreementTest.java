package dev.troupe.look.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class AgreementTest {
    private static final List<Double> EXPECTED = List.of(4.0, 2.0);

    @Test
    void shouldReportThatLossesAreTheSameToTheBit() {
        assertEquals("the same to the bit", of(0, List.of(List.of(4.0, 2.0), List.of(4.0, 2.0))));
    }

    @Test
    void shouldReportHowFarLossesOfAnotherOrderOfSumsLieApart() {
        assertEquals("within 2.5e-01: another order of sums", of(0.25, List.of(List.of(4.0, 1.5))));
    }

    @Test
    void shouldRefuseLossesThatAreTooFarApart() {
        assertEquals("zbv does not have the losses of the first schedule: [4.0, 1.5] instead of [4.0, 2.0]",
                refusal(0.24, List.of(List.of(4.0, 1.5))));
        assertEquals("zbv does not have the losses of the first schedule: [4.0] instead of [4.0, 2.0]",
                refusal(1, List.of(List.of(4.0))));
    }

    @Test
    void shouldRefuseALossThatIsNotANumber() {
        assertEquals("zbv does not have the losses of the first schedule: [4.0, NaN] instead of [4.0, 2.0]",
                refusal(1, List.of(List.of(4.0, Double.NaN))));
    }

    @Test
    void shouldRefuseRunsOfOneScheduleThatDiffer() {
        assertEquals("two runs of zbv have different losses: [4.0, 2.0] and [4.0, 2.0000000000000004]",
                refusal(1, List.of(List.of(4.0, 2.0), List.of(4.0, Math.nextUp(2.0)))));
    }

    private static String of(double tolerance, List<List<Double>> runs) {
        return Agreement.of("zbv", runs, EXPECTED, tolerance);
    }

    private static String refusal(double tolerance, List<List<Double>> runs) {
        return assertThrows(ComparisonException.class, () -> of(tolerance, runs)).getMessage();
    }
}
