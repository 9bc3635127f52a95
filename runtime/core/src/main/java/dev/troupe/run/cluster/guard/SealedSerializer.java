package dev.troupe.run.cluster.guard;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import dev.troupe.port.RunKey;
import java.io.NotSerializableException;
import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.setup.Setup;
import org.apache.pekko.serialization.Serializer;
import org.apache.pekko.serialization.SerializerWithStringManifest;
import org.apache.pekko.serialization.Serializers;

/**
 * A serializer of Pekko that ends each message with a proof that its sender has the run's key. Every message between
 * processes passes through a serializer, including handshakes and the cluster's own. A message without a proof is dropped
 * before any of it is parsed. Thread rule: any thread.
 */
public final class SealedSerializer extends SerializerWithStringManifest {
    private static final String SERIALIZERS = "pekko.actor.serializers";
    /** The configuration path of the wrapped serializers, as Pekko's libraries name them. */
    private static final String INSIDE = "troupe.sealed";
    /** Java's own serialization, which is off: Pekko replaces it by one that refuses. */
    private static final String JAVA = "java";
    private static final int MAGIC_BYTES = 4;

    private final Serializer inside;
    private final RunKey key;
    private final String purpose;

    private static final class Key extends Setup {
        private final RunKey key;

        Key(RunKey key) {
            this.key = key;
        }
    }

    /** The constructor for Pekko, which finds this class through its configuration. */
    public SealedSerializer(ExtendedActorSystem system, String name) {
        this.inside = instance(system, name, system.settings().config().getString(INSIDE + "." + name));
        this.key = system.settings().setup().get(Key.class).orElseThrow().key;
        this.purpose = "control " + inside.identifier() + " ";
    }

    public static Setup key(RunKey key) {
        return new Key(key);
    }

    /**
     * Returns the first bytes of each connection, which follow from the key. Pekko ends a connection with others at once,
     * and trusts the lengths of the frames after them: one of -4 is read again and again, for ever.
     */
    public static Config magic(RunKey key) {
        byte[] proof = key.proof("magic", new byte[0], 0);
        StringBuilder magic = new StringBuilder();
        for (int i = 0; i < MAGIC_BYTES; i++) {
            magic.append((char) (proof[i] & 0x7f)); // one byte of UTF-8
        }
        return ConfigFactory.parseMap(Map.of("pekko.remote.artery.advanced.tcp-magic", List.of(magic.toString())));
    }

    /** Returns the settings of a node with sealed messages; the actor system also needs the {@link #key}. */
    public static Config sealed(Config settings, RunKey key) {
        Map<String, Object> sealed = new HashMap<>();
        settings.getObject(SERIALIZERS).forEach((name, inside) -> {
            if (!name.equals(JAVA)) {
                sealed.put(SERIALIZERS + ".\"" + name + '"', SealedSerializer.class.getName());
                sealed.put(INSIDE + ".\"" + name + '"', inside.unwrapped());
            }
        });
        return ConfigFactory.parseMap(sealed).withFallback(magic(key)).withFallback(settings);
    }

    /** Creates a serializer by the constructor that it has, as Pekko does. */
    private static Serializer instance(ExtendedActorSystem system, String name, String className) {
        try {
            Class<?> type = Class.forName(className, true, system.dynamicAccess().classLoader());
            for (Constructor<?> constructor : type.getConstructors()) {
                List<Class<?>> parameters = List.of(constructor.getParameterTypes());
                if (parameters.equals(List.of(ExtendedActorSystem.class))) {
                    return (Serializer) constructor.newInstance(system);
                } else if (parameters.equals(List.of(ExtendedActorSystem.class, String.class))) {
                    return (Serializer) constructor.newInstance(system, name);
                }
            }
            return (Serializer) type.getConstructor().newInstance();
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException("Pekko's serializer " + className + " cannot be made", failure);
        }
    }

    @Override
    public int identifier() {
        return inside.identifier();
    }

    @Override
    public String manifest(Object message) {
        return Serializers.manifestFor(inside, message);
    }

    @Override
    public byte[] toBinary(Object message) {
        byte[] bytes = inside.toBinary(message);
        byte[] sealed = Arrays.copyOf(bytes, bytes.length + RunKey.PROOF_BYTES);
        byte[] proof = key.proof(purpose + manifest(message), bytes, bytes.length);
        System.arraycopy(proof, 0, sealed, bytes.length, proof.length);
        return sealed;
    }

    @Override
    public Object fromBinary(byte[] sealed, String manifest) throws NotSerializableException {
        int length = sealed.length - RunKey.PROOF_BYTES;
        if (length < 0 || !key.isProof(Arrays.copyOfRange(sealed, length, sealed.length), purpose + manifest, sealed,
                length)) {
            throw new Stranger();
        }
        byte[] bytes = Arrays.copyOf(sealed, length);
        if (inside instanceof SerializerWithStringManifest named) {
            return named.fromBinary(bytes, manifest);
        }
        if (inside.includeManifest()) {
            throw new NotSerializableException("no message of a run is of " + manifest);
        }
        return inside.fromBinary(bytes);
    }

    /** The refusal of a message without a valid proof. Only its message is logged; a stack would add nothing. */
    private static final class Stranger extends NotSerializableException {
        private static final long serialVersionUID = 1L;

        Stranger() {
            super("its sender has not the key of this run, and is refused");
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }
}
