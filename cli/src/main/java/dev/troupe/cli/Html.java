package dev.troupe.cli;

/** What all reports have in common as pages. */
final class Html {
    static final String STYLE = """
            :root { color-scheme: light dark; --line: #8886; --bar: #3b6fb6; --soft: #9dbbe0; }
            body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1300px; padding: 0 1rem; }
            h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; } h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
            table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
            table { font-size: 13px; width: 100%; }
            th, td { padding: .3rem .4rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
            td:not(:last-child) { white-space: nowrap; }
            .note { font-size: 13px; }
            .scroll { overflow-x: auto; }
            .key i { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin: 0 .3rem 0 1rem; }
            """;

    private Html() {
    }

    /** Text as it stands between tags or in an attribute. */
    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
