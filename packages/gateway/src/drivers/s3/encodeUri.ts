const RESERVED = /[!'()*]/g;
const PLAIN_PATH = /^[A-Za-z0-9/_.~-]*$/;

/**
 * Percent-encodes text as Signature Version 4 wants it: all bytes of its UTF-8 but the unreserved characters of RFC 3986.
 *
 * @param text any text without lone surrogates
 * @returns the encoded text, with upper-case hex digits
 * @throws URIError for a lone surrogate
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html (UriEncode)
 */
export function encodeUri(text: string): string {
  return encodeURIComponent(text).replace(RESERVED, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Percent-encodes an object's key, whose slashes stay as they are.
 *
 * @param path key without a leading slash
 * @returns the encoded key; a plain one, as `v1/{hex}/{hex}/{hex}`, is returned as it is
 * @throws URIError for a lone surrogate
 */
export function encodeUriPath(path: string): string {
  return PLAIN_PATH.test(path) ? path : path.split('/').map(encodeUri).join('/');
}
