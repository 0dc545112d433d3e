#include "net/tls.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <system_error>

#include "hpsearch/engine/base/digits.hpp"

namespace hpsearch::net {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr long ten_years = 10L * 365 * 24 * 3600;
// With TLS 1.2 too, only ciphers that authenticate what they encrypt, with keys of one session.
constexpr const char* ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

template <auto function>
struct Free {
  template <class T>
  void operator()(T* pointer) const noexcept {
    function(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using File = std::unique_ptr<std::FILE, Free<std::fclose>>;

void harden(asio::ssl::context& context) {
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                      asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1);
  SSL_CTX* native = context.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_cipher_list(native, ciphers);
}

Result<std::shared_ptr<asio::ssl::context>> read_context(const std::string& certificate,
                                                         const std::string& key) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  harden(*context);
  AsioError error;
  context->use_certificate_chain_file(certificate, error);
  if (error) {
    return Error{Errc::bad_request, "the certificate " + certificate + " cannot be read: " + error.message()};
  }
  context->use_private_key_file(key, asio::ssl::context::pem, error);
  if (error) {
    return Error{Errc::bad_request, "the key " + key + " cannot be read, or does not belong to " +
                                        certificate + ": " + error.message()};
  }
  return context;
}

X509* certificate_of(const asio::ssl::context& context) {
  return SSL_CTX_get0_certificate(const_cast<asio::ssl::context&>(context).native_handle());
}

bool is_ip_address(const std::string& name) {
  std::array<unsigned char, 16> bytes{};
  return ::inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

/// What may stand in a certificate as the name of a host: the text below is read by OpenSSL's own syntax.
bool is_host_name(const std::string& name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  return !name.empty() && name.size() <= 253 && name.find_first_not_of(allowed) == std::string::npos;
}

bool add_extension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>> made(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return made != nullptr && X509_add_ext(certificate, made.get(), -1) == 1;
}

/// Programs that trust the certificate by itself, such as Prometheus, look for the name of the server there.
bool add_extensions(X509* certificate, const std::vector<std::string>& names) {
  std::string listed;
  for (const std::string& name : names) {
    if (is_ip_address(name) || is_host_name(name)) {
      listed += (listed.empty() ? "" : ",") + std::string(is_ip_address(name) ? "IP:" : "DNS:") + name;
    }
  }
  return add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(certificate, NID_key_usage, "critical,digitalSignature") &&
         add_extension(certificate, NID_ext_key_usage, "serverAuth") &&
         add_extension(certificate, NID_subject_key_identifier, "hash") &&
         (listed.empty() || add_extension(certificate, NID_subject_alt_name, listed));
}

Certificate new_certificate(EVP_PKEY* key, const std::vector<std::string>& names) {
  Certificate certificate(X509_new());
  std::array<unsigned char, 16> serial{};
  if (certificate == nullptr || ::getentropy(serial.data(), serial.size()) != 0) {
    return nullptr;
  }
  serial[0] &= 0x7fU;  // A serial number is positive.
  X509_set_version(certificate.get(), X509_VERSION_3);
  const std::unique_ptr<BIGNUM, Free<BN_free>> number(BN_bin2bn(serial.data(), serial.size(), nullptr));
  BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate.get()));
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);  // Clocks differ.
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), ten_years);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("hpsearchd"),
                             -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  return add_extensions(certificate.get(), names) && X509_sign(certificate.get(), key, EVP_sha256()) > 0
             ? std::move(certificate)
             : nullptr;
}

/// A new file that only its owner may read.
template <class Write>
Status write_pem(const std::string& path, const Write& write) {
  const std::string draft = path + ".new";
  ::unlink(draft.c_str());
  const int descriptor = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  const File file(descriptor < 0 ? nullptr : ::fdopen(descriptor, "w"));
  if (file == nullptr || write(file.get()) != 1 || std::fflush(file.get()) != 0 || ::fsync(descriptor) != 0 ||
      ::rename(draft.c_str(), path.c_str()) != 0) {
    return Error{Errc::unavailable, "cannot write " + path + ": " + std::generic_category().message(errno)};
  }
  return Done{};
}

}  // namespace

std::string fingerprint_of(X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (certificate == nullptr || X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) {
    return "";
  }
  return engine::hex_of(std::as_bytes(std::span(digest).first(size)));
}

std::shared_ptr<asio::ssl::context> client_context(const std::string& fingerprint, const std::string& host,
                                                   const TlsClient& tls) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  harden(*context);
  context->set_verify_mode(asio::ssl::verify_peer);
  if (fingerprint.empty()) {
    if (tls.authorities.empty()) {
      context->set_default_verify_paths();
    } else {
      context->add_certificate_authority(asio::buffer(tls.authorities));
    }
    context->set_verify_callback(asio::ssl::host_name_verification(host));
  } else {
    // The pinned certificate is right whoever signed it and whatever it names.
    context->set_verify_callback([fingerprint](bool /*vouched_for*/, asio::ssl::verify_context& peer) {
      X509_STORE_CTX* store = peer.native_handle();
      return X509_STORE_CTX_get_error_depth(store) != 0 ||
             fingerprint_of(X509_STORE_CTX_get_current_cert(store)) == fingerprint;
    });
  }
  if (!tls.certificate.empty()) {
    context->use_certificate_chain(asio::buffer(tls.certificate));
    context->use_private_key(asio::buffer(tls.key), asio::ssl::context::pem);
  }
  return context;
}

Result<TlsIdentity> TlsIdentity::from_files(const std::string& certificate, const std::string& key) {
  auto context = read_context(certificate, key);
  if (!context) {
    return context.error();
  }
  return TlsIdentity(std::make_shared<Impl>(Impl{certificate, key, *std::move(context)}));
}

Result<TlsIdentity> TlsIdentity::self_signed(const std::string& directory,
                                             const std::vector<std::string>& names) {
  const std::string certificate = directory + "/tls.crt";
  const std::string key = directory + "/tls.key";
  if (::access(certificate.c_str(), F_OK) != 0 && ::access(key.c_str(), F_OK) != 0) {
    const Key made(EVP_EC_gen("P-256"));
    const Certificate signed_one = made == nullptr ? nullptr : new_certificate(made.get(), names);
    if (signed_one == nullptr) {
      return Error{Errc::unavailable, "OpenSSL cannot make a certificate"};
    }
    const auto write_key = [&](std::FILE* file) {
      return PEM_write_PrivateKey(file, made.get(), nullptr, nullptr, 0, nullptr, nullptr);
    };
    const auto write_certificate = [&](std::FILE* file) { return PEM_write_X509(file, signed_one.get()); };
    if (Status written = write_pem(key, write_key); !written) {
      return written.error();
    }
    if (Status written = write_pem(certificate, write_certificate); !written) {
      return written.error();
    }
  }
  return from_files(certificate, key);
}

Status TlsIdentity::reload() {
  auto context = read_context(impl_->certificate, impl_->key);
  if (!context) {
    return context.error();
  }
  impl_->context = *std::move(context);
  return Done{};
}

std::string TlsIdentity::fingerprint() const {
  return fingerprint_of(certificate_of(*impl_->context));
}

bool TlsIdentity::names(const std::string& host) const {
  X509* certificate = certificate_of(*impl_->context);
  return is_ip_address(host) ? X509_check_ip_asc(certificate, host.c_str(), 0) == 1
                             : X509_check_host(certificate, host.c_str(), host.size(),
                                               X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, nullptr) == 1;
}

std::chrono::seconds TlsIdentity::valid_for() const {
  int days = 0;
  int seconds = 0;
  const ASN1_TIME* end = X509_get0_notAfter(certificate_of(*impl_->context));
  if (ASN1_TIME_diff(&days, &seconds, nullptr, end) != 1) {
    return std::chrono::seconds(0);
  }
  return std::chrono::hours(24) * days + std::chrono::seconds(seconds);
}

}  // namespace hpsearch::net
