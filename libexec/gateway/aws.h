/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The endpoint at which SDKs of AWS in the box find temporary credentials:
 * http://169.254.170.2:3128/aws/NAME for the secrets that the policy delivers
 * so, with the box's key. No metadata service is behind it, and the address
 * leads nowhere else. Spec: aws_value.h, DESIGN.md section 9.
 */
#ifndef GATEWAY_AWS_H
#define GATEWAY_AWS_H

#include "state.h"

/* Is this it, and has the box a secret for it? */
bool ab_aws_is_host(const ab_gw *gw, const ab_target *host);
/* As ab_client_server; the host is it, and the key came. */
void ab_aws_serve(ab_gw *gw, ab_client *c);

#endif
