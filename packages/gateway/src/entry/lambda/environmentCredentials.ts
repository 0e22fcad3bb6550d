/** Keys as the AWS SDK takes them. */
interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * Makes a provider of the credentials that Lambda puts into the environment. The bundler puts this into the place of the AWS
 * SDK's default provider, whose other sources (files, single sign-on, metadata services) a function does not have, and which
 * weighs as much as the DynamoDB client itself.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
 */
export function defaultProvider(): () => Promise<Credentials> {
  return async () => {
    const {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
    } = process.env;
    if (!accessKeyId || !secretAccessKey) throw new Error('There are no AWS credentials in the environment.');
    return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  };
}
