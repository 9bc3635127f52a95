package dev.troupe.cli.report;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The common parts of reports as pages. */
final class Html {
    /** Width in pixels of the text on a screen of 1280. */
    static final double PAGE = 1248;
    /** A line before drawings, shown if the page is too narrow for them. */
    static final String SIDEWAYS = "<p class=\"note sideways\">The drawings are wider than the page: they scroll sideways.</p>";
    private static final Pattern WIDTH = Pattern.compile("<svg[^>]* width=\"([0-9.]+)\"");

    static final String STYLE = """
            :root { color-scheme: light dark; --line: #8886; --bar: #3b6fb6; --soft: #9dbbe0; }
            body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1300px; padding: 0 1rem; }
            h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; } h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
            table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
            table { font-size: 13px; width: 100%; }
            th, td { padding: .3rem .4rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
            .note { font-size: 13px; }
            .scroll { overflow-x: auto; }
            .scroll svg { display: block; width: 100%; height: auto; max-width: var(--natural); min-width: calc(.6 * var(--natural)); }
            .sideways { display: none; }
            .key i { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin: 0 .3rem 0 1rem; }
            @media (max-width: 900px) {
              body { margin: 1rem auto; }
              .sideways { display: block; }
              .cards, .cards tbody, .cards tr { display: block; }
              .cards tr.headings { display: none; }
              .cards tr { border: 1px solid var(--line); border-radius: 6px; margin: .8rem 0; padding: .3rem .6rem; }
              .cards td { display: flex; justify-content: space-between; gap: 1rem; text-align: right; }
              .cards td:last-child { border-bottom: 0; }
              .cards td::before { content: attr(data-label); text-align: left; opacity: .75; }
              .cards td:first-child { font-weight: 600; }
            }
            """;

    private Html() {
    }

    /** A table, as cards with a line for each cell if the page is too narrow for the columns. */
    static String table(List<String> headings, List<List<String>> rows) {
        StringBuilder html = new StringBuilder("<table class=\"cards\"><tr class=\"headings\">");
        headings.forEach(heading -> html.append("<th>").append(escape(heading)).append("</th>"));
        html.append("</tr>");
        for (List<String> row : rows) {
            html.append("\n<tr>");
            for (int column = 0; column < row.size(); column++) {
                html.append("<td data-label=\"").append(escape(headings.get(column))).append("\">")
                        .append(escape(row.get(column)).replace("-&gt;", "&rarr;")).append("</td>");
            }
            html.append("</tr>");
        }
        return html.append("</table>").toString();
    }

    /**
     * A drawing that shrinks to the page, and scrolls sideways if its words would become too small.
     *
     * @param svg begins with an element that has its width in pixels
     */
    static String drawing(String svg) {
        return "<div class=\"scroll\" style=\"--natural:" + Math.round(width(svg)) + "px\">" + svg + "</div>";
    }

    private static double width(String svg) {
        Matcher width = WIDTH.matcher(svg);
        return width.find() ? Double.parseDouble(width.group(1)) : PAGE;
    }

    /** Returns text escaped for the place between tags, or an attribute. */
    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
