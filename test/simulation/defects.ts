/** Changes of the source that break a promise on purpose: each text must be found once in its file. */
export type Defect = { file: string; edits: [find: string, replace: string][] }

/** What the simulation must find. They show that it can fail. */
export const defects: Record<string, Defect> = {
  'intent-after-the-call': {
    file: 'lib/lifecycle/provision.ts',
    edits: [
      [
        '  const written =\n    intent &&',
        '  const early = intent && (await backend.launch({ intent, region: offer.region, zone, instanceType: offer.instanceType }))\n  const written =\n    intent &&',
      ],
      ['intent, await backend.launch(rental))', 'intent, early)'],
    ],
  },
  'no-fence': {
    file: 'test/fakes/memory-store.ts',
    edits: [['if (stands?.version !== previous.version) return undefined', 'if (!stands) return undefined']],
  },
  'terminate-gives-up': {
    file: 'lib/lifecycle/terminate.ts',
    edits: [
      [
        '  const delay = patient(',
        '  if (now - askedAt > overdueAfterMs)\n    return void (await rewrite(ctx, instance, (current) => ({ ...current, nextCheckAt: undefined, sweepAt: undefined })))\n  const delay = patient(',
      ],
    ],
  },
  'claim-without-condition': {
    file: 'lib/lifecycle/claim.ts',
    edits: [
      [
        "if (current.status === 'idle') return claimed(ctx, current, by)",
        "if (current.status === 'idle' || current.status === 'busy') return claimed(ctx, current, by)",
      ],
    ],
  },
  'message-trusted-over-record': {
    file: 'lib/lifecycle/provision.ts',
    edits: [
      [
        "if (!instance || stepOf(instance) !== 'provision' || !isDue(instance, ctx.clock.now())) return",
        'if (!instance) return',
      ],
    ],
  },
  'empty-list-believed-at-once': {
    file: 'lib/backends/hotaisle/find.ts',
    edits: [['const settledAfterMs = 10 * 60_000', 'const settledAfterMs = 0']],
  },
  'always-by-force': {
    file: 'lib/lifecycle/terminate.ts',
    edits: [['{ force: instance.force === true }', '{ force: true }']],
  },
  'terminated-when-asked': {
    file: 'lib/lifecycle/terminate.ts',
    edits: [
      [
        "if (seen.state === 'gone') return finish(ctx, instance, isGone, await backend.billed(ref), agreed)",
        "if (seen.state !== 'running') return finish(ctx, instance, isGone, await backend.billed(ref), agreed)",
      ],
    ],
  },
  '404-believed': {
    file: 'lib/backends/oci/machines.ts',
    edits: [
      [
        "  if (answer.kind === 'ok' || answer.status !== 404) return answer\n",
        "  if (answer.kind === 'ok' || answer.status !== 404) return answer\n  if (ref.cloudId) return ok(undefined)\n",
      ],
    ],
  },
  'node-without-fleet-version': {
    file: 'test/fakes/memory-fleets.ts',
    edits: [
      ['return stands?.version === version && stands.createdAt === createdAt', 'return stands !== undefined'],
    ],
  },
  'idled-below-min': {
    file: 'lib/lifecycle/fleet-seat.ts',
    edits: [
      ['  if (others.length < spec.nodes.min) return keeps\n', ''],
      ['if (serving < spec.nodes.min) return keeps', 'if (serving < 0) return keeps'],
    ],
  },
  'limits-without-version': {
    file: 'test/fakes/memory-books.ts',
    edits: [['change === undefined || change.before?.version === spend?.version', 'true']],
  },
  'launch-not-counted': {
    file: 'lib/lifecycle/provision.ts',
    edits: [['      alsoCommit(ctx),\n', '      async () => ({}),\n']],
  },
}
