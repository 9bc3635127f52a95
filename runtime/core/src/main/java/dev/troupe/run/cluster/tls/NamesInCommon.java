package dev.troupe.run.cluster.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
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
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;
import javax.net.ssl.X509TrustManager;

/**
 * The trust manager of the control plane's rule: a certificate must share a subject or alternative name with the node's own,
 * and have the cluster's authority. The address of its owner does not matter. Thread rule: any thread.
 */
final class NamesInCommon extends X509ExtendedTrustManager {
    private final X509TrustManager authority;
    private final X509Certificate own;

    NamesInCommon(X509TrustManager authority, X509Certificate own) {
        this.authority = authority;
        this.own = own;
    }

    /** @throws CertificateException if there is no name in common */
    static void require(X509Certificate own, X509Certificate other) throws CertificateException {
        Set<String> ours = names(own);
        Set<String> theirs = names(other);
        if (Collections.disjoint(ours, theirs)) {
            throw new CertificateException("its certificate is for " + theirs + ", ours for " + ours
                    + ": none in common");
        }
    }

    private static Set<String> names(X509Certificate certificate) throws CertificateException {
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
            throw new CertificateException("a certificate without a name that can be read", unreadable);
        }
        return names;
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
        authority.checkClientTrusted(chain, type);
        require(own, chain[0]);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
        authority.checkServerTrusted(chain, type);
        require(own, chain[0]);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        checkClientTrusted(chain, type);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        checkServerTrusted(chain, type);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
            throws CertificateException {
        checkClientTrusted(chain, type);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
            throws CertificateException {
        checkServerTrusted(chain, type);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return authority.getAcceptedIssuers();
    }
}
