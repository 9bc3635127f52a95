package dev.troupe.chat;

import com.hubspot.jinjava.el.ext.JinjavaBeanELResolver;
import com.hubspot.jinjava.el.ext.JinjavaListELResolver;
import com.hubspot.jinjava.lib.exptest.ExpTest;
import com.hubspot.jinjava.lib.filter.Filter;
import com.hubspot.jinjava.objects.collections.PyList;
import com.hubspot.jinjava.objects.collections.PyMap;
import com.hubspot.jinjava.util.ForLoop;
import com.hubspot.jinjava.el.TypeConvertingMapELResolver;
import java.util.Set;
import jinjava.javax.el.ArrayELResolver;
import jinjava.javax.el.CompositeELResolver;
import jinjava.javax.el.ELContext;
import jinjava.javax.el.MethodNotFoundException;

/**
 * The values that a template may look into: lists, maps, the state of a loop, and texts with Python's methods. Of all
 * other objects it gets no property and no method, by whatever way it comes to them.
 */
final class TemplateValues extends CompositeELResolver {
    TemplateValues() {
        add(new ArrayELResolver(true));
        add(new JinjavaListELResolver(true));
        add(new TypeConvertingMapELResolver(true));
        add(new Guard());
    }

    private static final class Guard extends JinjavaBeanELResolver {
        private static final Set<String> OF_LISTS = Set.of("append", "extend", "insert", "pop", "index", "count",
                "reverse", "copy");
        private static final Set<String> OF_MAPS = Set.of("items", "keys", "values", "get", "update");

        Guard() {
            super(true);
        }

        @Override
        public Object getValue(ELContext context, Object base, Object property) {
            if (base instanceof ForLoop) {
                return super.getValue(context, base, property);
            }
            context.setPropertyResolved(true);
            return null;
        }

        @Override
        public Object invoke(ELContext context, Object base, Object method, Class<?>[] types, Object[] arguments) {
            String name = String.valueOf(method);
            boolean isAllowed = switch (base) {
                case Filter _ -> name.equals("filter");
                case ExpTest _ -> name.startsWith("evaluate");
                case PyList _ -> OF_LISTS.contains(name);
                case PyMap _ -> OF_MAPS.contains(name);
                case null, default -> false;
            };
            if (isAllowed) {
                return super.invoke(context, base, method, types, arguments);
            }
            if (base instanceof CharSequence text) {
                context.setPropertyResolved(true);
                return PythonText.call(text.toString(), name, arguments == null ? new Object[0] : arguments);
            }
            throw new MethodNotFoundException("there is no method " + name);
        }
    }
}
