package dev.troupe.chat;

import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import com.hubspot.jinjava.lib.tag.Tag;
import com.hubspot.jinjava.tree.Node;
import com.hubspot.jinjava.tree.TagNode;

/**
 * {@code {% generation %}}, by which a template marks the assistant's words. Its text is the text inside, between
 * marks where the variables have a number for them.
 */
final class GenerationTag implements Tag {
    /** The variable of the number of marks. */
    static final String NUMBER = "generation_mark";
    private static final long serialVersionUID = 1L;

    @Override
    public String getName() {
        return "generation";
    }

    @Override
    public String getEndTagName() {
        return "endgeneration";
    }

    @Override
    public String interpret(TagNode tag, JinjavaInterpreter interpreter) {
        StringBuilder text = new StringBuilder();
        Object number = interpreter.getContext().get(NUMBER);
        if (number != null) {
            text.append(MarkedText.beginMark(number.toString()));
        }
        for (Node child : tag.getChildren()) {
            text.append(child.render(interpreter));
        }
        if (number != null) {
            text.append(MarkedText.endMark(number.toString()));
        }
        return text.toString();
    }
}
