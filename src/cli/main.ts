#!/usr/bin/env node
// The program `mocap-uplink`: argv in, exit code out.

import { keepHeapLean } from './lean-heap.ts'
import { keepCompilerPatient } from './patient-compiler.ts'
import { runCli } from './run-cli.ts'

keepCompilerPatient()
keepHeapLean()
void runCli(process.argv.slice(2))
