package dev.troupe.plan;

/** The version of Troupe, which must be the same on all nodes of a cluster. */
public final class Version {
    private Version() {
    }

    /** Returns the version in the manifest of the runtime's jar. */
    public static String text() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "(from a working tree)" : version;
    }
}
