package dev.troupe.chat;

import com.hubspot.jinjava.Jinjava;
import com.hubspot.jinjava.JinjavaConfig;
import com.hubspot.jinjava.interpret.Context;
import com.hubspot.jinjava.interpret.InterpreterFactory;
import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import com.hubspot.jinjava.tree.Node;

/**
 * The interpreters of one template, which parse it once: every text is made from the same tree. A template that does not
 * parse without an error is parsed each time, so that each text has the error.
 *
 * <p>Thread rule: any thread; what several parse at the same time is the same.
 */
final class ParsedTemplate implements InterpreterFactory {
    private static final long serialVersionUID = 1L;

    /** A template and what it was parsed to. */
    private record Parsed(String template, Node tree) {
    }

    private transient volatile Parsed parsed;

    @Override
    public JinjavaInterpreter newInstance(JinjavaInterpreter original) {
        return new JinjavaInterpreter(original);
    }

    @Override
    public JinjavaInterpreter newInstance(Jinjava application, Context context, JinjavaConfig config) {
        return new JinjavaInterpreter(application, context, config) {
            private static final long serialVersionUID = 1L;

            @Override
            public Node parse(String template) {
                Parsed known = parsed;
                if (known != null && known.template.equals(template)) {
                    return known.tree;
                }
                Node tree = super.parse(template);
                if (getErrorsCopy().isEmpty()) {
                    parsed = new Parsed(template, tree);
                }
                return tree;
            }
        };
    }
}
