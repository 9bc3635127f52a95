package dev.troupe.look.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.plan.UsageException;
import dev.troupe.schedule.PlanException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class ContestantTest {
    @Test
    void shouldReadNamesAndTheirVirtualStages() {
        assertEquals(List.of(new Contestant("gpipe", 1), new Contestant("interleaved-1f1b", 2),
                new Contestant("interleaved-1f1b", 4)),
                Contestant.parse("gpipe, interleaved-1f1b,,interleaved-1f1b:4"));
        assertEquals(List.of(), Contestant.parse(" , "));
    }

    @Test
    void shouldNameTheVirtualStagesIfThereAreSeveral() {
        assertEquals("gpipe", new Contestant("gpipe", 1).label());
        assertEquals("zbv, V = 2", new Contestant("zbv", 2).label());
    }

    @Test
    void shouldRefuseTextThatNamesNoContestant() {
        assertEquals("--schedules: expected a number of stages on each rank after the colon of \"zbv:x\", such as"
                + " interleaved-1f1b:4", refusal("zbv:x"));
        assertEquals("--schedules: expected each schedule once, but found zbv, V = 2 twice: leave one out",
                refusal("zbv,gpipe,zbv:2"));
        assertTrue(assertThrows(PlanException.class, () -> Contestant.parse("gpip")).getMessage()
                .startsWith("There is no schedule \"gpip\": did you mean \"gpipe\"?"));
    }

    private static String refusal(String list) {
        return assertThrows(UsageException.class, () -> Contestant.parse(list)).getMessage();
    }
}
