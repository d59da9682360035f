import tseslint from 'typescript-eslint'

const portable = [
  'src/core/**',
  'src/machines/**',
  'src/protocols/**',
  'src/flows/**',
  'src/client/**',
  'src/uplink.ts',
]
const outside = (...groups) => ({
  'no-restricted-imports': ['error', { patterns: groups.map(([regex, message]) => ({ regex, message })) }],
})
const noNode = ['^node:', 'Portable code: take it through a port.']

export default tseslint.config(
  // tsup writes its configuration into this folder for a moment, bundled.
  { ignores: ['dist', 'node_modules', 'coverage', 'bench/results', 'examples/**/dist', '*.bundled_*'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.js', '.size-limit.js', 'scripts/*.js'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/dot-notation': 'off',
      // Our objects come from factories. Their methods close over what they need and do not use `this`.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
    },
  },
  {
    files: ['src/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ObjectExpression > SpreadElement > ObjectExpression',
          message: 'Write its properties themselves.',
        },
        {
          selector: 'BinaryExpression[operator="instanceof"][right.name="Promise"]',
          message: 'There may be two of them: isPromise.',
        },
      ],
    },
  },
  {
    files: ['test/**', 'bench/**', 'scripts/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.property.name="waitForFunction"] > ArrowFunctionExpression[async=true]',
          message: 'It takes the promise for a yes and waits for nothing: expect.poll with page.evaluate.',
        },
      ],
    },
  },
  {
    files: portable,
    rules: {
      'no-restricted-globals': [
        'error',
        'fetch',
        'setTimeout',
        'setInterval',
        'clearTimeout',
        'Date',
        'XMLHttpRequest',
        'performance',
        'navigator',
        'console',
        'crypto',
      ],
      'no-restricted-properties': ['error', { object: 'Math', property: 'random', message: 'Chance is a port.' }],
    },
  },
  {
    files: ['src/core/*.ts'],
    ignores: ['src/core/engine.ts'],
    rules: outside(noNode, ['^[a-z@]', 'The core imports itself only.'], ['^\\.\\./', 'The core imports itself only.']),
  },
  {
    files: ['src/core/*/**'],
    rules: outside(
      noNode,
      ['^[a-z@]', 'The core imports itself only.'],
      ['^(\\.\\./){2}', 'The core imports itself only.'],
    ),
  },
  {
    files: ['src/core/engine.ts'],
    rules: outside(
      noNode,
      ['^(?!p-queue$)[a-z@]', 'The engine imports p-queue and the core only.'],
      ['^\\.\\./', 'The core imports itself only.'],
    ),
  },
  { files: ['src/machines/**'], rules: outside(noNode, ['^\\.\\./(?!core/)', 'Machines know core types only.']) },
  { files: ['src/client/**'], rules: outside(noNode, ['^\\.\\./(?!core/)', 'The client knows the core only.']) },
  {
    files: ['src/protocols/**'],
    rules: outside(noNode, ['^\\.\\./(?!core/|client/)', 'Protocols know client and core only.']),
  },
  {
    files: ['src/flows/**'],
    rules: outside(noNode, [
      '^\\.\\./(adapters|service|cli|element)/',
      'Flows know machines, protocols, client and core only.',
    ]),
  },
  { files: ['src/adapters/*/*.ts'], rules: outside(['^(\\.\\./){2}(?!core/)', 'Adapters know the core only.']) },
  { files: ['src/adapters/*/*/**'], rules: outside(['^(\\.\\./){3}(?!core/)', 'Adapters know the core only.']) },
  {
    files: ['src/adapters/web/**', 'src/adapters/browser/**'],
    rules: outside(noNode, ['^\\.\\./\\.\\./(?!core/)', 'Adapters know the core only.']),
  },
  {
    files: ['src/react/**'],
    rules: outside(noNode, ['^\\.\\./(?!core/|flows/upload\\.ts$)', 'The hook knows what an upload is, and no more.']),
  },
  { files: ['src/page/**'], rules: outside(noNode) },
  {
    files: ['src/service/**'],
    rules: outside([
      '^(\\.\\./)+(core/|machines/|protocols/|flows/|adapters/|cli/|element/|client/(?!contract))',
      'The service is an independent witness: it knows the contract only.',
    ]),
  },
  // An example is a package of its own and can resolve ours only once it is installed. `npm run types` checks its types.
  { files: ['.size-limit.js', 'eslint.config.js', 'examples/**'], ...tseslint.configs.disableTypeChecked },
  // CommonJS files have no type information, and they use require.
  {
    files: ['**/*.cjs'],
    ...tseslint.configs.disableTypeChecked,
    rules: { ...tseslint.configs.disableTypeChecked.rules, '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    files: ['test/**', 'bench/**', 'src/testing/**'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-empty-function': 'off',
    },
  },
)
