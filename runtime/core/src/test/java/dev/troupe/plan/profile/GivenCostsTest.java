package dev.troupe.plan.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.plan.UsageException;
import dev.troupe.schedule.search.Unit;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class GivenCostsTest {
    static ModelSpec model(int blocks) {
        return new Gpt2(blocks, 4, 2, 3, 5, true, Gpt2.NORM_EPSILON).spec();
    }

    @Test
    void shouldReadACostForEachLetterOrLayer() {
        List<Unit> ofLetters = GivenCosts.read("costs(E=1, a=2, m=4, L=8)", model(2));
        assertEquals(ofLetters, GivenCosts.read("costs(0.5, 1, 2, 1, 2, 4)", model(2)), "the unit is free");
        assertEquals(List.of(1L, 2L, 4L, 2L, 4L, 8L), ofLetters.stream()
                .map(layer -> layer.cost().forwardNanos() / 125_000_000).toList());
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"costs(1, 2);it has 2 costs", "costs(E=1, a=2, m=3);it has no cost of L",
            "costs(E=1, a=2, m=3, L=4, a=5);it has \"a=5\"", "costs(E=1, x=2);it has \"x=2\"",
            "costs(E=1, a=-2, m=3, L=4);it has \"-2\"", "costs(1, 2, 3, 4, 5, NaN);it has \"NaN\"",
            "costs(0, 0, 0, 0, 0, 0);every cost is 0", "costs(1, 2, 3, 4, 5, 6;it does not end with )"})
    void shouldRefuseOtherCosts(String layout, String why) {
        UsageException refused = assertThrows(UsageException.class, () -> GivenCosts.read(layout, model(2)));
        assertEquals(
                "parallel.layout = \"" + layout + "\": expected a cost of 0 or more for each of the 6 layers, or for"
                        + " each letter as in costs(E=1, a=1, m=1, L=1), but " + why,
                refused.getMessage());
    }
}
