module {
  tt.func public @sum(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.0> : tensor<64xf32>
    %c0_i32 = arith.constant 0 : i32
    %c_1_i32 = arith.constant -1 : i32
    %true = arith.constant true
    %0, %1 = scf.for %arg2 = %c0_i32 to %n step %n iter_args(%arg3 = %cst, %arg4 = %c_1_i32) -> (tensor<64xf32>, i32)  : i32 {
      %2 = arith.addf %arg3, %cst : tensor<64xf32>
      scf.yield %2, %arg2 : tensor<64xf32>, i32
    }
    %3 = "tt.reduce"(%0) <{axis = 0 : i32}> ({
    ^bb0(%arg2_1: f32, %arg3_1: f32):
      %4 = arith.addf %arg2_1, %arg3_1 : f32
      tt.reduce.return %4 : f32
    }) : (tensor<64xf32>) -> f32
    %5, %6 = scf.while (%arg2_2 = %1, %arg3_2 = %3) : (i32, f32) -> (i32, f32) {
      scf.condition(%true) %arg2_2, %arg3_2 : i32, f32
    } do {
    ^bb0(%arg2_3: i32, %arg3_3: f32):
      scf.yield %arg2_3, %arg3_3 : i32, f32
    }
    %7 = tt.addptr %arg0, %5 : !tt.ptr<f32>, i32
    tt.store %7, %6 : !tt.ptr<f32>
    tt.return
  }
}
