#loc = loc("kernel.py":10:0)
#loc9 = loc("n"(#loc))
module {
  tt.func public @sum(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("kernel.py":10:0), %n: i32 loc("n"(#loc))) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64xf32> loc(#loc1)
    %c0_i32 = arith.constant 0 : i32 loc(#loc1)
    %c-1_i32 = arith.constant -1 : i32 loc(#loc1)
    %true = arith.constant true loc(#loc1)
    %0:2 = scf.for %arg2 = %c0_i32 to %n step %n iter_args(%arg3 = %cst, %arg4 = %c-1_i32) -> (tensor<64xf32>, i32)  : i32 {
      %4 = arith.addf %arg3, %cst : tensor<64xf32> loc(#loc4)
      scf.yield %4, %arg2 : tensor<64xf32>, i32 loc(#loc5)
    } loc(#loc3)
    %1 = "tt.reduce"(%0#0) <{axis = 0 : i32}> ({
    ^bb0(%arg2: f32 loc(callsite(#loc6 at #loc7)), %arg3: f32 loc(unknown)):
      %4 = arith.addf %arg2, %arg3 : f32 loc(#loc8)
      tt.reduce.return %4 : f32 loc(#loc8)
    }) : (tensor<64xf32>) -> f32 loc(#loc8)
    %2:2 = scf.while (%arg2 = %0#1, %arg3 = %1) : (i32, f32) -> (i32, f32) {
      scf.condition(%true) %arg2, %arg3 : i32, f32
    } do {
    ^bb0(%arg2: i32, %arg3: f32):
      scf.yield %arg2, %arg3 : i32, f32
    } loc("a ) \22 b")
    %3 = tt.addptr %arg0, %2#0 : !tt.ptr<f32>, i32 loc(#loc)
    tt.store %3, %2#1 : !tt.ptr<f32> loc(#loc)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc(unknown)
#loc6 = loc("a.py":1:2)
