package dev.troupe.schedule.drawing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import dev.troupe.schedule.timeline.Timeline;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

@Tag("plan")
class DrawingTest {
    @Test
    void shouldDrawTheTerminalGridToTheScaleOfTime() {
        assertEquals("""
                1f1b: 12 units; bubble 100% of ideal time, 50% of total
                rank 0 F0--F1--                    B0------    B1------
                rank 1     F0--F1--        B0------    B1------
                rank 2         F0--B0------F1--B1------""".lines().map(String::stripTrailing).toList(),
                TerminalDrawing.draw(units("1f1b", 3, 1, 2), TimeScale.UNITS, 120, false).lines().toList());
    }

    @Test
    void shouldFoldADrawingWiderThanTheTerminalAndKeepItsNumbers() {
        Timeline timeline = units("interleaved-1f1b", 2, 2, 2);
        String folded = TerminalDrawing.draw(timeline, TimeScale.UNITS, 40, false);
        assertEquals("""
                interleaved-1f1b: 15 units; bubble 25% of ideal time, 20% of total
                rank 0 0F0-0F1-2F0-2F1-        2B0-----
                rank 1     1F0-1F1-3F0-3B0-----3F1-3B1-

                from 8 units on:
                rank 0     2B1-----0B0-----0B1-----
                rank 1 ----1B0-----1B1-----""".lines().map(String::stripTrailing).toList(), folded.lines().toList());
        assertFalse(TerminalDrawing.fits(timeline, 40));
        assertTrue(TerminalDrawing.fits(timeline, 80));
    }

    @Test
    void shouldNotDrawBeyondTheTerminal() {
        for (int columns : List.of(40, 80, 120)) {
            String drawing = TerminalDrawing.draw(units("zbv", 8, 2, 32), TimeScale.UNITS, columns, false);
            assertTrue(drawing.lines().skip(1).allMatch(line -> line.length() <= columns), drawing);
        }
    }

    @Test
    void shouldPaintTheSameBarsInColour() {
        Timeline timeline = units("zbv", 2, 2, 4);
        String plain = TerminalDrawing.draw(timeline, TimeScale.UNITS, 120, false);
        String colour = TerminalDrawing.draw(timeline, TimeScale.UNITS, 120, true);
        assertTrue(colour.contains("\u001b[48;2;0;114;178m\u001b[38;2;255;255;255m0F0 \u001b[0m"), colour);
        assertEquals(plain.replace('-', ' ').lines().map(String::stripTrailing).toList(),
                colour.replaceAll("\u001b\\[[0-9;]*m", "").lines().map(String::stripTrailing).toList());
    }

    @Test
    void shouldWriteATable() {
        assertEquals("""
                rank,action,stage,kind,microbatch,start,end
                0,0F0,0,F,0,0,1
                0,0B0,0,B,0,4,6
                1,1F0,1,F,0,1,2
                1,1B0,1,B,0,2,4
                """, TimelineCsv.write(units("1f1b", 2, 1, 1), TimeScale.UNITS));
    }

    @Test
    void shouldDrawABarToScaleForEveryActionInSvg() throws Exception {
        Timeline timeline = units("dualpipev", 4, 2, 8);
        Document svg = parse(SvgDrawing.draw(List.of(timeline), TimeScale.UNITS));
        List<Element> bars = bars(svg);
        assertEquals(timeline.spans().size(), bars.size());
        double unit = 14;
        for (int i = 0; i < bars.size(); i++) {
            assertEquals(timeline.spans().get(i).nanos() * unit - 1, number(bars.get(i), "width"), 0.01);
            assertEquals(68 + timeline.spans().get(i).startNanos() * unit, number(bars.get(i), "x"), 0.01);
        }
        assertTrue(bars.getFirst().getTextContent().startsWith("0F0, rank 0: 0 units to 1 units"));
    }

    @Test
    void shouldLabelEveryBarOf8RanksBy32Microbatches() throws Exception {
        for (String name : List.of("1f1b", "zbv")) {
            Timeline timeline = units(name, 8, name.equals("zbv") ? 2 : 1, 32);
            String svg = SvgDrawing.draw(List.of(timeline), TimeScale.UNITS);
            assertEquals(timeline.spans().size(), svg.split("class=\"label ", -1).length - 1);
        }
    }

    @Test
    void shouldPutTimelinesUnderEachOtherOnOneAxis() throws Exception {
        Timeline predicted = units("1f1b", 2, 1, 2);
        Timeline measured = new Timeline("a <b> & c", 2, 2, units("gpipe", 2, 1, 4).spans());
        Document svg = parse(SvgDrawing.draw(List.of(predicted, measured), TimeScale.UNITS));
        List<Element> bars = bars(svg);
        int first = predicted.spans().size();
        assertEquals(number(bars.get(0), "width"), number(bars.get(first), "width"));
        assertTrue(number(bars.get(first), "y") > number(bars.get(first - 1), "y"));
        assertTrue(svg.getDocumentElement().getTextContent().contains("a <b> & c"));
    }

    @Test
    void shouldDrawArrowsFromSenderToReceiverInAChromeTrace() {
        Costs costs = Costs.uniform(2, new StageCost(1_000, 1_000, 1_000, 8), new Hop(500, 1e12));
        Plan plan = Schedules.named("1f1b").plan(2, 1, 1);
        Timeline timeline = Simulator.run(plan, costs).timeline("a \"plan\"");
        String trace = ChromeTrace.write(List.of(timeline, timeline));
        assertTrue(trace.contains("\"name\":\"a \\\"plan\\\"\""), trace);
        assertTrue(trace.contains("{\"ph\":\"X\",\"name\":\"1F0\",\"cat\":\"F\",\"pid\":0,\"tid\":1,\"ts\":1.500,"
                + "\"dur\":1.000,\"args\":{\"stage\":1,\"microbatch\":0}}"), trace);
        assertTrue(trace.contains("""
                {"ph":"s","cat":"message","name":"0F0 to 1F0","id":1,"pid":0,"tid":0,"ts":0.999},
                {"ph":"f","bp":"e","cat":"message","name":"0F0 to 1F0","id":1,"pid":0,"tid":1,"ts":1.500},"""), trace);
        assertEquals(4, trace.split("\"ph\":\"s\"", -1).length - 1);
        List<String> ids = new ArrayList<>();
        Matcher id = Pattern.compile("\"ph\":\"f\".*\"id\":(\\d+)").matcher(trace);
        while (id.find()) {
            assertFalse(ids.contains(id.group(1)), "two arrows share an id");
            ids.add(id.group(1));
        }
        assertEquals(4, ids.size());
    }

    @Test
    void shouldPrintTimesInAUnitThatFits() {
        assertEquals("9999 ns", TimeScale.fitting(9_999).text(9_999));
        assertEquals("12.35 \u00b5s", TimeScale.fitting(12_345).text(12_345));
        assertEquals("123.5 ms", TimeScale.fitting(123_456_789).text(123_456_789));
        assertEquals("12 s", TimeScale.fitting(12_000_000_000L).text(12_000_000_000L));
        assertEquals(5, TimeScale.UNITS.tickNanos(33, 10));
    }

    /** Every schedule has a picture; {@code -Dtroupe.drawings=FOLDER} leaves them for a person to look at. */
    @Test
    void shouldDrawEverySchedule(@TempDir Path temporary) throws Exception {
        Path folder = Path.of(System.getProperty("troupe.drawings", temporary.toString()));
        for (String name : Schedules.names()) {
            int virtualStages = Schedules.named(name).usualVirtualStages();
            Timeline timeline = units(name, 4, virtualStages, 8);
            Path svg = Files.writeString(folder.resolve(name + ".svg"),
                    SvgDrawing.draw(List.of(timeline), TimeScale.UNITS));
            Path trace = Files.writeString(folder.resolve(name + ".json"), ChromeTrace.write(List.of(timeline)));
            assertEquals(timeline.spans().size(), bars(parse(Files.readString(svg))).size(), name);
            assertEquals(timeline.spans().size(), Files.readString(trace).split("\"ph\":\"X\"", -1).length - 1, name);
        }
    }

    private static Timeline units(String name, int pipeline, int virtualStages, int microbatches) {
        Plan plan = Schedules.named(name).plan(pipeline, virtualStages, microbatches);
        return Simulator.run(plan, Costs.units(plan.stageCount())).timeline(name);
    }

    private static Document parse(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
    }

    private static List<Element> bars(Document svg) {
        List<Element> bars = new ArrayList<>();
        for (int i = 0; i < svg.getElementsByTagName("rect").getLength(); i++) {
            Element rect = (Element) svg.getElementsByTagName("rect").item(i);
            if (rect.getElementsByTagName("title").getLength() == 1) {
                bars.add(rect);
            }
        }
        return bars;
    }

    private static double number(Element element, String attribute) {
        return Double.parseDouble(element.getAttribute(attribute));
    }
}
