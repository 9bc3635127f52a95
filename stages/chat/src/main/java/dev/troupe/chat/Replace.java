package dev.troupe.chat;

import com.hubspot.jinjava.interpret.InterpretException;
import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import com.hubspot.jinjava.lib.filter.Filter;

/** {@code replace}, of a bounded result. */
final class Replace implements Filter {
    @Override
    public String getName() {
        return "replace";
    }

    @Override
    public Object filter(Object value, JinjavaInterpreter interpreter, String... arguments) {
        if (arguments.length != 2) {
            throw new InterpretException("replace needs an old text and a new one");
        }
        return PythonText.replaced(String.valueOf(value), arguments[0], arguments[1]);
    }
}
