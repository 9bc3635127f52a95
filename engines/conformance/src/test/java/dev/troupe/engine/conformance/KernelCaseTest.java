package dev.troupe.engine.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KernelCaseTest {
    @Test
    void shouldHaveAUniqueName() {
        Set<String> names = new HashSet<>();
        List<String> again = EngineConformance.cases(true).map(KernelCase::toString).filter(name -> !names.add(name))
                .toList();
        assertEquals(List.of(), again, "the name of a case determines its contents and results");
    }
}
