package dev.troupe.chat;

import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import com.hubspot.jinjava.lib.tag.Tag;
import com.hubspot.jinjava.tree.Node;
import com.hubspot.jinjava.tree.TagNode;

/** {@code {% generation %}}, by which a template marks what the assistant says; its text is that of what is inside. */
final class GenerationTag implements Tag {
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
        for (Node child : tag.getChildren()) {
            text.append(child.render(interpreter));
        }
        return text.toString();
    }
}
