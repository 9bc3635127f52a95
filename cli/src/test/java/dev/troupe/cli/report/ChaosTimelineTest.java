package dev.troupe.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.look.chaos.AskedFaults;
import dev.troupe.look.chaos.ChaosResult;
import dev.troupe.look.chaos.CommittedStep;
import dev.troupe.look.chaos.KeptThroughput.Basis;
import dev.troupe.look.chaos.RunRecord;
import dev.troupe.rank.fault.FiredFault;
import dev.troupe.run.news.Recovery;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

@Tag("plan")
class ChaosTimelineTest {
    private static final Path NOWHERE = Path.of("nowhere");

    private static List<CommittedStep> steps(int count) {
        return IntStream.range(0, count).mapToObj(step -> new CommittedStep(step, 1, 1, 1000L * (step + 1))).toList();
    }

    private static FiredFault fired(String fault, int index, long millis) {
        return new FiredFault(millis, fault, index, "node-0", FaultPoint.FORWARD, 1, 1, 1, 0, Optional.empty());
    }

    /** Of 20 steps of a second each, three faults at nearly one time, and one at the end. */
    private static Element drawing() throws Exception {
        List<FiredFault> fired = List.of(fired("exception step=4", 0, 4_100), fired("freeze step=4", 1, 4_200),
                fired("drop step=4", 2, 4_300), fired("kill-coordinator step=19", 3, 19_900));
        List<FaultSpec> asked = fired.stream().map(fault -> FaultSpec.parse(fault.fault(), "", "")).toList();
        RunRecord disturbed = new RunRecord(NOWHERE, steps(20), fired,
                List.of(new Recovery(1, 4, List.of(1), "a <reason>", 4_350, 4_400, 4_900)), 0);
        ChaosResult result = ChaosResult.of(new RunRecord(NOWHERE, steps(20), List.of(), List.of(), 0), disturbed,
                new AskedFaults(asked, List.of()), Optional.of("it is not compared here"), NOWHERE, Basis.OWN_STEPS);
        return DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new InputSource(new StringReader(ChaosTimeline.of(result)))).getDocumentElement();
    }

    private static List<Element> all(Element drawing, String name) {
        NodeList found = drawing.getElementsByTagName(name);
        return IntStream.range(0, found.getLength()).mapToObj(i -> (Element) found.item(i)).toList();
    }

    private static double share(Element element, String attribute) {
        return Double.parseDouble(element.getAttribute(attribute).replace("%", ""));
    }

    @Test
    void shouldHaveAnAxisOfTimeAndNumbersOfSteps() throws Exception {
        List<String> words = all(drawing(), "text").stream().map(Element::getTextContent).toList();
        assertTrue(words.containsAll(List.of("0 s", "2 s", "20 s", "step 0", "4", "19",
                "time since the first step of each run began", "disturbed: 20.00 s, 20 steps")), words::toString);
    }

    @Test
    void shouldNumberAndNameEachFault() throws Exception {
        List<Element> markers = all(drawing(), "g");
        assertEquals(4, markers.size());
        for (int number = 1; number <= 4; number++) {
            List<String> words = all(markers.get(number - 1), "text").stream().map(Element::getTextContent).toList();
            assertEquals(List.of(Integer.toString(number),
                    List.of("exception", "freeze", "drop", "kill-coordinator").get(number - 1)), words);
        }
    }

    /** Marks at one height of the two rows have more space between them than a number takes on a phone. */
    @Test
    void shouldHideNoMarkerUnderAnother() throws Exception {
        Map<String, List<Double>> heights = new HashMap<>();
        for (Element circle : all(drawing(), "circle")) {
            heights.computeIfAbsent(circle.getAttribute("cy"), _ -> new ArrayList<>()).add(share(circle, "cx"));
        }
        assertEquals(3, heights.size(), heights::toString);
        heights.values().forEach(places -> IntStream.range(1, places.size())
                .forEach(i -> assertTrue(places.get(i) - places.get(i - 1) > 6, heights::toString)));
    }

    /** Shares of the width, so that nothing is cut on a narrow screen. */
    @Test
    void shouldFitAnyWidth() throws Exception {
        Element drawing = drawing();
        assertEquals("", drawing.getAttribute("width"));
        for (Element box : all(drawing, "rect")) {
            assertTrue(box.getAttribute("x").endsWith("%") && box.getAttribute("width").endsWith("%"));
            assertTrue(share(box, "x") >= 0 && share(box, "x") + share(box, "width") <= 100.01);
        }
        long everywhere = all(drawing, "text").stream().filter(text -> !text.getAttribute("class").contains("wide"))
                .filter(text -> text.getTextContent().matches("\\d+ s")).count();
        assertTrue(everywhere >= 2 && everywhere <= 5, "a phone has " + everywhere + " times");
    }

    @Test
    void shouldDrawNothingWhenNoStepWasDone() {
        RunRecord none = new RunRecord(NOWHERE, List.of(), List.of(), List.of(), 0);
        assertEquals("", ChaosTimeline.of(ChaosResult.of(none, none, new AskedFaults(List.of(), List.of()),
                Optional.of("it is not compared here"), NOWHERE, Basis.OWN_STEPS)));
    }
}
