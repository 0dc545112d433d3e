// Debian's static libzmq refers to Kerberos, which has no static library there. Its mechanism is used only
// where a socket asks for it (ZMQ_GSSAPI_…), and ours never do: these take the place of libgssapi in programs
// with HPSEARCH_STATIC, and answer that there is none.

#include <gssapi/gssapi.h>

extern "C" {

gss_OID GSS_C_NT_HOSTBASED_SERVICE = GSS_C_NO_OID;
gss_OID GSS_C_NT_USER_NAME = GSS_C_NO_OID;

OM_uint32 gss_accept_sec_context(OM_uint32*, gss_ctx_id_t*, gss_cred_id_t, gss_buffer_t,
                                 gss_channel_bindings_t, gss_name_t*, gss_OID*, gss_buffer_t, OM_uint32*,
                                 OM_uint32*, gss_cred_id_t*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_acquire_cred(OM_uint32*, gss_name_t, OM_uint32, gss_OID_set, gss_cred_usage_t, gss_cred_id_t*,
                           gss_OID_set*, OM_uint32*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_delete_sec_context(OM_uint32*, gss_ctx_id_t*, gss_buffer_t) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_display_name(OM_uint32*, gss_name_t, gss_buffer_t, gss_OID*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_import_name(OM_uint32*, gss_buffer_t, gss_OID, gss_name_t*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_init_sec_context(OM_uint32*, gss_cred_id_t, gss_ctx_id_t*, gss_name_t, gss_OID, OM_uint32,
                               OM_uint32, gss_channel_bindings_t, gss_buffer_t, gss_OID*, gss_buffer_t,
                               OM_uint32*, OM_uint32*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_release_buffer(OM_uint32*, gss_buffer_t) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_release_cred(OM_uint32*, gss_cred_id_t*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_release_name(OM_uint32*, gss_name_t*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_unwrap(OM_uint32*, gss_ctx_id_t, gss_buffer_t, gss_buffer_t, int*, gss_qop_t*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_wrap(OM_uint32*, gss_ctx_id_t, int, gss_qop_t, gss_buffer_t, int*, gss_buffer_t) {
  return GSS_S_UNAVAILABLE;
}

}  // extern "C"
