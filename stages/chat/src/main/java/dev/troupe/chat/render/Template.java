package dev.troupe.chat.render;

import dev.troupe.chat.syntax.Statement;
import dev.troupe.chat.syntax.TemplateParser;
import dev.troupe.chat.value.Opaque;
import java.time.LocalDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A parsed chat template. Thread rule: any thread may use it. */
public final class Template {
    private final List<Statement> statements;
    private final Analysis analysis;

    /** The template itself, with its blocks in Jinja; a chat template has none. */
    private static final class Self implements Opaque {
        @Override
        public String printed() {
            return "<TemplateReference None>";
        }
    }

    private Template(List<Statement> statements) {
        this.statements = statements;
        this.analysis = new Analysis(statements);
    }

    /**
     * Reads a template.
     *
     * @throws dev.troupe.chat.value.TemplateException if Jinja would refuse it, or it is not supported
     */
    public static Template of(String source) {
        return new Template(TemplateParser.statements(source));
    }

    /** Returns whether it marks the assistant's words, with {@code {% generation %}}. */
    public boolean marksAnswers() {
        return analysis.marksAnswers();
    }

    /**
     * Returns the text of a chat. A thread that is interrupted gives up.
     *
     * @param chat the variables: values of Python, see {@link dev.troupe.chat.value.Types}
     * @param now the time that it may print
     * @param marking marks the text of {@code {% generation %}}
     * @throws dev.troupe.chat.value.TemplateException if it fails
     */
    public String text(Map<String, Object> chat, LocalDateTime now, UnaryOperator<String> marking) {
        Map<String, Object> variables = new LinkedHashMap<>(Functions.at(now));
        variables.putAll(chat);
        variables.put("self", new Self());
        return new Renderer(analysis, marking).text(statements, variables);
    }
}
