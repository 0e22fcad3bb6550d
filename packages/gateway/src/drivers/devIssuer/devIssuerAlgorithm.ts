/** JWS algorithm of the development issuer's tokens. */
export const DEV_ISSUER_ALGORITHM = 'ES256';
