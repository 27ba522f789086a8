// Checks generated documents, for the tests: that a schema is one, which of the
// values on its input are valid by it, and that a document of AsyncAPI is one.
//
//   node validate.mjs SCHEMA DEFINITION ASYNCAPI

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import Ajv7 from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const require = createRequire(import.meta.url);
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const [schemaPath, definition, asyncPath] = process.argv.slice(2);

const ajv = new Ajv2020.default({ strict: false, validateSchema: true });
addFormats.default(ajv);
const schema = read(schemaPath);
ajv.addSchema(schema, 'jobs');
const validate = ajv.compile({ $ref: `jobs#/$defs/${definition}` });
const values = read(0);
const wrong = values.map((value) => (validate(value) ? '' : ajv.errorsText(validate.errors)));

const specification = new Ajv7.default({ strict: false, allErrors: false, validateSchema: false, unicodeRegExp: false, meta: false });
addFormats.default(specification);
const isAsyncAPI = specification.compile(require('@asyncapi/specs/schemas/3.0.0.json'));
const asyncAPI = isAsyncAPI(read(asyncPath)) ? '' : specification.errorsText(isAsyncAPI.errors);
const nothing = isAsyncAPI({ asyncapi: '3.0.0', info: { title: 'x' } });
process.stdout.write(JSON.stringify({ wrong, asyncAPI, nothing }));
