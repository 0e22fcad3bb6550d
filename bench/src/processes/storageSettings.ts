/** Bucket, region and made-up credentials for presigning, which needs no network; the gateway and the presigner get the same. */
export const storageSettings = {
  STORAGE_BUCKET: 'bench-objects',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'bench-access-key',
  AWS_SECRET_ACCESS_KEY: 'bench-not-a-secret',
} as const;
