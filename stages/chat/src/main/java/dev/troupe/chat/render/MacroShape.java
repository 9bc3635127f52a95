package dev.troupe.chat.render;

import dev.troupe.chat.syntax.Statement;
import dev.troupe.chat.syntax.Statement.Parameter;
import java.util.List;

/**
 * The definition of a macro, or of the body of a call.
 *
 * @param name the name of the macro; {@code null} for the body of a call
 * @param takesCaller whether it reads {@code caller}
 * @param takesNamed whether it reads {@code kwargs}
 * @param takesMore whether it reads {@code varargs}
 */
record MacroShape(String name, List<Parameter> parameters, List<Statement> body, Symbols symbols, boolean takesCaller,
        boolean takesNamed, boolean takesMore) {
}
