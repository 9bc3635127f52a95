package dev.troupe.engine.cpu.library;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.VMOption;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Limits of the environment and of the JVM's flags on the use of a processor. */
public final class Limits {
    /** Variables that oneDNN reads, the newer name first. */
    private static final List<String> VARIABLES = List.of("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA");
    private static final List<String> FLAGS = List.of("UseAVX", "UseSVE", "MaxVectorSize");

    private Limits() {
    }

    /** The limits of this process, in one sentence. */
    public static Optional<String> here() {
        return of(System.getenv(), setFlags());
    }

    /** The limits of an environment and of flags. */
    static Optional<String> of(Map<String, String> environment, List<String> flags) {
        List<String> limits = new ArrayList<>();
        VARIABLES.stream().filter(environment::containsKey).findFirst()
                .ifPresent(name -> limits.add(name + "=" + environment.get(name) + " limits oneDNN"));
        if (!flags.isEmpty()) {
            limits.add(String.join(" ", flags) + " limits the JVM");
        }
        return limits.isEmpty()
                ? Optional.empty()
                : Optional.of(String.join(", and ", limits) + ": without, this processor may do more");
    }

    private static List<String> setFlags() {
        HotSpotDiagnosticMXBean machine = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        List<String> set = new ArrayList<>();
        for (String flag : FLAGS) {
            try {
                VMOption option = machine.getVMOption(flag);
                switch (option.getOrigin()) {
                    case VM_CREATION, ENVIRON_VAR, CONFIG_FILE, MANAGEMENT, ATTACH_ON_DEMAND ->
                        set.add("-XX:" + flag + "="
                                + option.getValue());
                    case DEFAULT, ERGONOMIC, OTHER -> {
                    }
                }
            } catch (IllegalArgumentException _) {
                continue; // a flag of other processors
            }
        }
        return set;
    }
}
