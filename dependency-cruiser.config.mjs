/** Imports run one way: functions, cli, sandbox -> lifecycle, http -> backends, store, queues, shim -> model. */
const layer = (name, from, forbidden) => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { path: forbidden },
})

export default {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    layer(
      'model-imports-nothing-of-ours',
      '^lib/model/',
      '^(lib/(?!model/)|functions/|sandbox/|cli/|test/|bench/)',
    ),
    {
      name: 'model-imports-zod-alone',
      severity: 'error',
      from: { path: '^lib/model/' },
      to: { path: 'node_modules/', pathNot: 'node_modules/zod/' },
    },
    layer(
      'ports-import-the-model',
      '^lib/(backends|store|queues|shim)/',
      '^(lib/(lifecycle|http)/|functions/|sandbox/|cli/)',
    ),
    layer('backends-know-no-other-port', '^lib/backends/', '^lib/(store|queues|shim)/'),
    layer('store-knows-no-other-port', '^lib/store/', '^lib/(backends|queues|shim)/'),
    layer('queues-know-no-other-port', '^lib/queues/', '^lib/(backends|store|shim)/'),
    layer('shim-knows-no-other-port', '^lib/shim/', '^lib/(backends|store|queues)/'),
    {
      name: 'backends-do-not-know-each-other',
      severity: 'error',
      from: { path: '^lib/backends/([^/]+)/' },
      to: { path: '^lib/backends/([^/]+)/', pathNot: '^lib/backends/$1/' },
    },
    layer('lifecycle-knows-no-cloud', '^lib/(lifecycle|http)/', '^lib/backends/[^/]+/'),
    layer('lifecycle-knows-no-table', '^lib/(lifecycle|http)/', '^lib/store/(?!store\\.ts)'),
    layer('lib-imports-no-entry', '^lib/', '^(functions|sandbox|cli|test|bench)/'),
    {
      name: 'help-of-the-command-loads-little',
      comment: 'what --help and completion need; the work of a command is imported when it is called',
      severity: 'error',
      from: { path: '^cli/(commands/|(main|run|program|failure)\\.ts)' },
      to: {
        dynamic: false,
        dependencyTypesNot: ['type-only'],
        pathNot:
          '^(cli/(commands/|(run|program|failure|surroundings)\\.ts)|lib/model/choices\\.ts|node_modules/commander/|os$)',
      },
    },
    layer('functions-are-thin', '^functions/', '^(sandbox|cli|test|bench|lib/(backends|store|queues|shim)/)'),
  ],
  options: {
    tsPreCompilationDeps: true,
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.ci/' },
  },
}
