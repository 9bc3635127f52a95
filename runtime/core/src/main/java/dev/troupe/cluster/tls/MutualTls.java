package dev.troupe.cluster.tls;

import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.liveness.Sockets;
import dev.troupe.plan.UsageException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.security.cert.Certificate;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * TLS as on the control plane: each side shows a certificate, and accepts only one of the same authority that has a subject
 * or alternative name in common with its own. The files are read for every connection, so that they can be renewed.
 */
public final class MutualTls implements Sockets {
    private final TlsSpec files;

    public MutualTls(TlsSpec files) {
        this.files = files;
    }

    @Override
    public Socket dialed(Socket connection) throws IOException {
        SSLSocket socket = (SSLSocket) factory().createSocket(connection,
                connection.getInetAddress().getHostAddress(), connection.getPort(), true);
        socket.setUseClientMode(true);
        return shake(socket);
    }

    @Override
    public Socket accepted(Socket connection) throws IOException {
        SSLSocket socket = (SSLSocket) factory().createSocket(connection, (InputStream) null, true);
        socket.setUseClientMode(false);
        socket.setNeedClientAuth(true);
        return shake(socket);
    }

    private SSLSocketFactory factory() throws IOException {
        try {
            return Certificates.context(files).getSocketFactory();
        } catch (UsageException unsound) {
            throw new IOException(unsound.getMessage(), unsound);
        }
    }

    private Socket shake(SSLSocket socket) throws IOException {
        socket.startHandshake();
        Certificate[] shown = socket.getSession().getLocalCertificates();
        if (shown == null) {
            throw new SSLException("the other side trusts another authority than ours");
        }
        Set<String> ours = names((X509Certificate) shown[0]);
        Set<String> theirs = names((X509Certificate) socket.getSession().getPeerCertificates()[0]);
        if (Collections.disjoint(ours, theirs)) {
            throw new SSLException("its certificate is for " + theirs + ", ours for " + ours + ": none in common");
        }
        return socket;
    }

    private static Set<String> names(X509Certificate certificate) throws SSLException {
        Set<String> names = new TreeSet<>();
        try {
            for (Rdn part : new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
                if (part.getType().equalsIgnoreCase("CN")) {
                    names.add(part.getValue().toString());
                }
            }
            Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
            if (alternatives != null) {
                alternatives.forEach(name -> names.add(name.get(1).toString()));
            }
        } catch (InvalidNameException | CertificateParsingException unreadable) {
            throw new SSLException("a certificate without a name that can be read", unreadable);
        }
        return names;
    }
}
