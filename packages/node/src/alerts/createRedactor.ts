/** Shorter ones are no secrets, and would turn ordinary words into holes. */
const MIN_SECRET_LENGTH = 4;

/** Parts of a URL that may hold a secret: whatever is not its scheme and host. */
function urlSecrets(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { username, password, pathname, search } = new URL(text);
  return [text, decodeURIComponent(password), password, username, search, pathname.length > 1 ? pathname : ''];
}

/**
 * Makes a function that takes secrets out of texts for people; what errors of libraries say is not in our hands.
 *
 * @param secrets - keys, passwords, and URLs with secrets in them; undefined ones are none
 * @returns the function; where a secret stood, it writes `[secret]`
 */
export function createRedactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const hidden = secrets
    .filter((secret) => secret !== undefined)
    .flatMap((secret) => [secret, secret.replace(/^0x/, ''), ...urlSecrets(secret)])
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    // The longest first: a part of a secret must not break up the whole.
    .toSorted((one, other) => other.length - one.length);
  return (text) => hidden.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text);
}
