import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist', 'target', 'data', 'native/node/index.d.ts', 'src/platform/db/generated', '**/*.cjs'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      'no-console': 'error',
      'no-empty': ['error', { allowEmptyCatch: false }],
    },
  },
  {
    files: ['src/{features,platform,kernel}/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
          message: 'Time is a parameter: take a Clock.',
        },
      ],
    },
  },
  { files: ['src/kernel/clock.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: [
      'test/**/*.ts',
      'benchmarks/**/*.ts',
      'benchmarks/**/*.js',
      'src/main/cli/**/*.ts',
      'samples/**/*.ts',
    ],
    rules: { 'max-lines-per-function': 'off', 'no-console': 'off' },
  },
  {
    // An answer off the wire is `any` until it was compared: comparing it is what these tests do.
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  { files: ['**/*.js'], ...tseslint.configs.disableTypeChecked },
);
