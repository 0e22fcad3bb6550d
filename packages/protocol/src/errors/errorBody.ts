import * as z from 'zod/mini';

/**
 * Body of every failing answer.
 *
 * @see docs/specification.md ERROR-1, ERROR-2
 */
export const errorBodySchema = z.strictObject({
  error: z.string().check(z.meta({ description: 'One human-readable sentence' })),
  details: z.optional(
    z.array(
      z.strictObject({
        path: z.string().check(z.meta({ description: 'Where, like `params.dataIds[2]`' })),
        message: z.string().check(z.meta({ description: 'What was expected' })),
      }),
    ),
  ),
});

export type ErrorBody = z.infer<typeof errorBodySchema>;
